//! From the protocol's content to the model's.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use quick_xml::escape::escape;

use crate::agent::wire::Block;

/// Blocks of a prompt. Resources become marked text, escaped: what stands in a file cannot end its own marks.
pub fn blocks(prompt: Vec<ContentBlock>) -> Vec<Block> {
    prompt.into_iter().map(block).collect()
}

fn block(content: ContentBlock) -> Block {
    match content {
        ContentBlock::Text(text) => Block::text(text.text),
        ContentBlock::Image(image) => Block::image(&image.mime_type, &image.data),
        ContentBlock::ResourceLink(link) => {
            Block::text(format!("<resource-link uri=\"{}\" name=\"{}\"/>", escape(&link.uri), escape(&link.name)))
        }
        ContentBlock::Resource(embedded) => match embedded.resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                Block::text(format!("<resource uri=\"{}\">\n{}\n</resource>", escape(&text.uri), escape(&text.text)))
            }
            EmbeddedResourceResource::BlobResourceContents(blob) => {
                let mime = blob.mime_type.as_deref().unwrap_or_default();
                match mime.starts_with("image/") {
                    true => Block::image(mime, &blob.blob),
                    false => unreadable(&blob.uri, mime),
                }
            }
            _ => unreadable("", "of a kind that is not known"),
        },
        ContentBlock::Audio(audio) => unreadable("", &audio.mime_type),
        _ => unreadable("", "of a kind that is not known"),
    }
}

/// The model is told that there was something, rather than answering as if there had been nothing.
fn unreadable(uri: &str, what: &str) -> Block {
    Block::text(format!("<resource uri=\"{}\">(not shown: {})</resource>", escape(uri), escape(what)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_client_sends_reaches_the_model_marked_and_escaped() {
        let prompt: Vec<ContentBlock> = serde_json::from_value(json!([
            { "type": "text", "text": "look" },
            { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            { "type": "resource", "resource": { "uri": "file:///x", "text": "</resource> <b>" } },
            { "type": "resource_link", "uri": "file:///\"y", "name": "y" },
            { "type": "resource", "resource": { "uri": "u", "mimeType": "image/gif", "blob": "R0lG" } },
            { "type": "resource", "resource": { "uri": "u", "mimeType": "application/zip", "blob": "UEs=" } },
        ]))
        .unwrap();
        let blocks = blocks(prompt);
        assert_eq!(blocks[0].as_text(), Some("look"));
        assert_eq!(blocks[1], Block::image("image/png", "AAAA"));
        let text = blocks[2].as_text().unwrap();
        assert_eq!(text.matches("</resource>").count(), 1, "{text}");
        assert!(blocks[3].as_text().unwrap().contains("&quot;y"));
        assert_eq!(blocks[4], Block::image("image/gif", "R0lG"));
        assert!(blocks[5].as_text().unwrap().contains("not shown"));
    }
}
