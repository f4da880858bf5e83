//! Faults of a drive beside power cuts: blocks that fail, and firmware that breaks its promises.

use drivelab_controller::FaultPlan;
use drivelab_drive::faults::plan_from_json;
use drivelab_drive::{Engine, by_kind};
use serde_json::{Value, json};

use crate::random_models::values::Random;

fn plan(value: &Value) -> FaultPlan {
    plan_from_json(value).unwrap_or_else(|error| panic!("{error}"))
}

/// Programs and erases fail now and then. Nothing that was promised is lost by that.
pub fn failing_blocks(random: &mut Random) -> FaultPlan {
    let mut rate = || random.one(&[0.0, 0.002, 0.01, 0.05]);
    let (programs, erases) = (rate(), rate());
    plan(&json!({"seed": random.between(0, 1 << 40), "faults": [
        {"kind": "program-failure", "probability": programs},
        {"kind": "erase-failure", "probability": erases},
    ]}))
}

/// Erases fail now and then.
pub fn failing_erases(random: &mut Random) -> FaultPlan {
    let erases = random.one(&[0.002, 0.01, 0.05]);
    plan(&json!({"seed": random.between(0, 1 << 40), "faults": [
        {"kind": "erase-failure", "probability": erases},
    ]}))
}

/// A fault of this kind from time to time, which breaks a promise.
pub fn misbehaviour(kind: &str) -> FaultPlan {
    plan(&json!({"seed": 1, "faults": [{"kind": kind, "probability": 0.3}]}))
}

/// The same expression for a flash drive of whatever scheme; otherwise another one.
macro_rules! flash {
    ($engine:expr, $drive:ident => $work:expr, $otherwise:expr) => {
        by_kind!($engine, $drive => $work, _disk => $otherwise, _array => $otherwise)
    };
}

/// These faults happen from now on.
pub fn give(engine: &mut Engine, plan: &FaultPlan) -> Result<(), String> {
    flash!(engine, drive => drive.set_faults(plan), Err("no flash drive".to_owned()))
}

/// Whether the drive has given up taking anything new.
pub fn is_read_only(engine: &Engine) -> bool {
    match engine {
        Engine::Raid0(array) => array.members().any(|member| is_read_only(member.device())),
        _ => flash!(engine, drive => drive.is_read_only(), false),
    }
}
