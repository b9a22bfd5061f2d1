//! The command behind `lab/run`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match ibid_lab::pins::Pins::of_this_checkout() {
        Ok(pins) => {
            for (program, pin) in &pins.programs {
                println!("{program}: {} and {}", pin.latest, pin.older.version);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("lab: {error:#}");
            ExitCode::from(2)
        }
    }
}
