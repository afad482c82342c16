use std::time::Duration;

use super::*;

#[test]
fn one_holds_it_and_asking_does_not_take_it() {
    let place = place();
    let path = place.member.lease();
    assert!(!lease::is_held(&path).unwrap());
    assert!(!path.exists(), "asking makes nothing");
    let text = lease_text("first");
    let held = Lease::take(&path, &text, lease::RETRY).unwrap();
    assert_eq!(lease::text(&path), Some(text.clone()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| assert!(lease::is_held(&path).unwrap())));
        }
    });
    match Lease::take(&path, &lease_text("second"), Duration::ZERO) {
        Err(StoreError::LeaseHeld { holder: Some(holder), .. }) => assert_eq!(*holder, text),
        other => panic!("{other:?}"),
    }
    drop(held);
    assert!(!lease::is_held(&path).unwrap());
    assert_eq!(lease::text(&path), Some(text), "who held it last can still be read");
}

#[test]
fn askers_neither_see_each_other_nor_keep_a_taker_out() {
    let place = place();
    let path = place.member.lease();
    drop(Lease::take(&path, &lease_text("first"), lease::RETRY).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| assert!(!lease::is_held(&path).unwrap())));
        }
    });
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| drop(lease::is_held(&path))));
        }
        Lease::take(&path, &lease_text("second"), lease::RETRY).expect("askers let go at once");
    });
}
