//! Which task comes first.

/// An order of `0..blockers.len()` in which each comes after all of its blockers, otherwise as it stands; or, where
/// there is none, one whole cycle, each entry blocked by the next and the last by the first.
pub(super) fn order(blockers: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut done = vec![false; blockers.len()];
    let mut out = Vec::with_capacity(blockers.len());
    while out.len() < blockers.len() {
        let before = out.len();
        for i in 0..blockers.len() {
            if !done[i] && blockers[i].iter().all(|&b| done[b]) {
                done[i] = true;
                out.push(i);
            }
        }
        if out.len() == before {
            return Err(cycle(blockers, &done));
        }
    }
    Ok(out)
}

/// Whatever is not done waits for something that is not done: following that must come back.
fn cycle(blockers: &[Vec<usize>], done: &[bool]) -> Vec<usize> {
    let mut path: Vec<usize> = Vec::new();
    let mut at = done.iter().position(|d| !d);
    while let Some(i) = at {
        if let Some(start) = path.iter().position(|&p| p == i) {
            return path.split_off(start);
        }
        path.push(i);
        at = blockers[i].iter().copied().find(|&b| !done[b]);
    }
    path
}
