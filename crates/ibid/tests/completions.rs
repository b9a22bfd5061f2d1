use crate::common::{Home, ibid};

#[test]
fn every_shell_gets_its_completions() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = ibid(&home, ["completions", shell]).ends(0);
        assert!(run.stdout.contains("convert"), "{shell}");
    }
    let bash = ibid(&home, ["completions", "bash"]).ends(0).stdout;
    assert!(bash.contains("compgen -W \"claude-code "), "harness names are not offered");
    ibid(&home, ["completions", "tcl"]).ends(2);
}
