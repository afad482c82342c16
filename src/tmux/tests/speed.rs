//! What panes cost, beside the same panes by plain tmux in one chain. Printed, not judged: run it by name.

use super::*;

#[tokio::test]
#[ignore = "a measurement: cargo nextest run --lib speed --run-ignored only --no-capture"]
async fn panes_against_a_raw_chain() {
    for count in [4_usize, 16, 64] {
        let (mut ours, mut plain) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let one = team().await;
            let from = Instant::now();
            let panes = one.tmux.add_panes("$0", &vec![idle(); count], 4, None).await.unwrap();
            ours.push(from.elapsed());
            assert_eq!(panes.len(), count);
            drop(one);

            let other = team().await;
            let mut args: Vec<&str> = Vec::new();
            for n in 0..count {
                if n > 0 {
                    args.push(";");
                }
                if n % 4 == 0 {
                    args.extend(["new-window", "-t", "$0:", "-P", "-F", "#{pane_id}", "--", "sleep", "1000"]);
                } else {
                    args.extend(["split-window", "-t", "$0:", "-P", "-F", "#{pane_id}", "--", "sleep", "1000"]);
                    args.extend([";", "select-layout", "-t", "$0:", "tiled"]);
                }
            }
            let from = Instant::now();
            let said = other.raw(&args);
            plain.push(from.elapsed());
            assert_eq!(said.lines().count(), count, "{said}");
        }
        ours.sort();
        plain.sort();
        let ms = |list: &[Duration]| list[2].as_secs_f64() * 1e3;
        let (a, b) = (ms(&ours), ms(&plain));
        println!("{count:>3} panes: ours {a:.1} ms, raw chain {b:.1} ms, ratio {:.2}", a / b);
    }
}
