use std::io::Read;
use std::time::Duration;

use super::{alone, is_alone, program};
use crate::os::process;
use crate::os::reap::{Reaper, become_subreaper};
use crate::os::spawn::spawn_with_pipes;

#[test]
fn orphans_are_reaped_and_our_own_status_is_kept() {
    let mut teammate = alone("reap::adopts");
    let mut output = String::new();
    teammate.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(output.contains("all reaped"), "{output}");
    assert!(teammate.wait().unwrap().success());
}

/// Not a test by itself: the teammate of the test above. It may not run beside others, whose children it would reap.
#[tokio::test]
async fn adopts() {
    if !is_alone() {
        return;
    }
    become_subreaper().unwrap();
    let mut reaper = Reaper::new().unwrap();
    let work = async {
        let mut programs = Vec::new();
        for status in 0..20 {
            // Leaves two orphans behind; the second ends after its parent.
            let script = format!("(:) & (read x </proc/self/cwd; sleep 0.1) & exit {status}");
            programs.push((status, spawn_with_pipes(&program(&["sh", "-c", &script])).unwrap()));
        }
        // They all end before anybody waits for them.
        while programs.iter().any(|(_, one)| process::is_alive(one.id)) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for (status, mut one) in programs {
            assert_eq!(one.child.wait().await.unwrap().code(), Some(status));
        }
        let me = std::process::id();
        while process::all().any(|stat| stat.ppid == me) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        println!("all reaped");
    };
    tokio::select! {
        () = work => {}
        () = reaper.run() => unreachable!(),
    }
}
