use super::args::Globals;
use super::error::CommandError;
use crate::model::name::Name;
use crate::store::Home;
pub fn any(_home: &Home, globals: &Globals) -> Result<Name, CommandError> {
    globals.named_team()?.ok_or_else(|| CommandError::not_found("no team"))
}
impl From<crate::act::ActError> for CommandError {
    fn from(e: crate::act::ActError) -> Self {
        let mut out = CommandError::new(super::error::ErrorKind::from_code(e.code), e.message);
        out.causes = e.causes;
        out.hints = e.hints;
        out
    }
}
impl From<crate::store::StoreError> for CommandError {
    fn from(e: crate::store::StoreError) -> Self {
        crate::act::ActError::from(e).into()
    }
}
