//! What a shell command does, as far as its first words tell.

use crate::answer::Family;

/// Commands longer than this are looked at so far, in bytes.
const LOOKED_AT: usize = 64 << 10;

/// Programs that are nothing but tests, linters, type checkers and builds.
const VERIFIERS: &[&str] = &[
    "pytest",
    "tox",
    "nox",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "eslint",
    "tsc",
    "ruff",
    "mypy",
    "pyright",
    "flake8",
    "pylint",
    "black",
    "prettier",
    "biome",
    "rubocop",
    "rspec",
    "phpunit",
    "phpstan",
    "ctest",
    "ninja",
    "cmake",
    "make",
    "gmake",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "bazel",
    "buck",
    "xcodebuild",
    "golangci-lint",
    "staticcheck",
    "shellcheck",
    "shfmt",
    "hadolint",
    "clang-tidy",
    "ktlint",
    "detekt",
    "swiftlint",
    "playwright",
    "cypress",
    "stylelint",
    "markdownlint",
    "rustfmt",
    "gofmt",
    "webpack",
    "vite",
    "turbo",
    "nx",
];

/// Programs that do many things, and the words behind them that test, lint or build.
const VERIFYING: &[(&[&str], &[&str])] = &[
    (
        &["cargo"],
        &["test", "t", "check", "c", "clippy", "build", "b", "nextest", "fmt", "bench", "doc", "miri"],
    ),
    (
        &["npm", "pnpm", "yarn", "bun"],
        &["test", "t", "lint", "build", "check", "typecheck", "type-check", "tsc", "verify", "ci"],
    ),
    (&["go"], &["test", "vet", "build", "fmt"]),
    (&["dotnet"], &["test", "build", "format"]),
    (&["swift"], &["test", "build"]),
    (&["deno"], &["test", "lint", "check", "fmt"]),
    (&["python", "python3", "py"], &["pytest", "unittest", "mypy", "ruff", "build", "compileall"]),
    (&["just", "task", "rake", "mix", "composer", "poetry", "hatch"], &["test", "lint", "build", "check"]),
    (&["docker", "podman"], &["build"]),
    (&["terraform"], &["validate", "fmt", "plan"]),
];

/// Programs that do many things, and the words behind them that hand work over.
const DELIVERING: &[(&[&str], &[&str])] = &[
    (&["git"], &["commit", "push", "tag"]),
    (&["gh", "glab", "hub"], &["pr", "mr", "release", "pull-request"]),
    (&["npm", "pnpm", "yarn", "bun", "cargo", "poetry", "deno"], &["publish"]),
    (&["docker", "podman"], &["push"]),
    (&["twine"], &["upload"]),
    (&["jj"], &["commit", "describe", "git"]),
];

/// Words before a program that only say how it is run.
const RUNNERS: &[&str] = &[
    "sudo", "time", "env", "nice", "nohup", "command", "exec", "npx", "bunx", "pnpx", "uvx", "uv",
    "xvfb-run", "stdbuf", "bundle", "then", "do", "if", "else", "{", "(", "!",
];

/// The family of a command line: what any command of it does, delivery first.
pub(crate) fn family(line: &str) -> Family {
    let line = line.get(..line.floor_char_boundary(LOOKED_AT)).unwrap_or_default();
    let mut found = Family::Execute;
    for command in line.split(['\n', ';', '|', '&']) {
        match of_one(command) {
            Family::Deliver => return Family::Deliver,
            Family::Verify => found = Family::Verify,
            Family::Change if found == Family::Execute => found = Family::Change,
            _ => {}
        }
    }
    found
}

/// Whether a program is a shell that is given a command line.
pub(crate) fn is_shell(program: &str) -> bool {
    matches!(base(program), "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "pwsh" | "powershell" | "cmd")
}

fn of_one(command: &str) -> Family {
    let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let mut rest = words.as_slice();
    while let [first, behind @ ..] = rest {
        let assigns = first.split_once('=').is_some_and(|(name, _)| is_name(name));
        // A number behind `timeout` and the like is an argument of it.
        let runs = RUNNERS.contains(first) || *first == "timeout" || first.parse::<f64>().is_ok();
        let flag = first.starts_with('-');
        if !(assigns || runs || flag) {
            break;
        }
        rest = behind;
    }
    let [program, arguments @ ..] = rest else { return Family::Execute };
    let program = base(program);
    if is_shell(program) {
        let inner = arguments.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
        return inner
            .and_then(|at| arguments.get(at + 1..))
            .map_or(Family::Execute, |inner| of_one(&inner.join(" ")));
    }
    if program == "apply_patch" {
        return Family::Change;
    }
    let word = verb(arguments);
    let said = |table: &[(&[&str], &[&str])]| {
        let word = word.split(':').next().unwrap_or(word);
        table.iter().any(|(programs, words)| programs.contains(&program) && words.contains(&word))
    };
    if said(DELIVERING) {
        Family::Deliver
    } else if VERIFIERS.contains(&program) || said(VERIFYING) {
        Family::Verify
    } else {
        Family::Execute
    }
}

/// The word that says what a program with many tasks should do: the first that is no option, no
/// value of one, and no word that only says that something is to be run.
fn verb<'a>(arguments: &[&'a str]) -> &'a str {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "-C" | "-c" | "-w" | "-F" | "--prefix" | "--cwd" | "--filter" | "--git-dir" | "--work-tree"
            | "--manifest-path" | "--workspace" | "workspace" => {
                words.next();
            }
            "run" | "run-script" | "exec" | "dlx" => {}
            word if word.starts_with(['-', '+']) => {}
            word => return word,
        }
    }
    ""
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The last component of a program's path.
fn base(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program).trim_end_matches(".exe")
}

#[cfg(test)]
mod tests {
    use super::*;

    // evidence defect 10
    #[test]
    fn commands_that_test_or_deliver_are_told_apart() {
        for (line, expected) in [
            ("cargo test --workspace", Family::Verify),
            ("cd app && RUST_LOG=x cargo +nightly clippy", Family::Verify),
            ("npm run test:unit", Family::Verify),
            ("sudo timeout 10 ./gradlew check", Family::Verify),
            ("python3 -m pytest -q", Family::Verify),
            ("npx tsc --noEmit | head", Family::Verify),
            ("git -C /w/demo commit -m 'x'", Family::Deliver),
            ("cargo build && git push origin main", Family::Deliver),
            ("gh pr create --fill", Family::Deliver),
            ("npm publish", Family::Deliver),
            ("bash -lc 'cargo test'", Family::Verify),
            ("apply_patch <<'EOF'\n*** Begin Patch", Family::Change),
            ("git status", Family::Execute),
            ("git log --grep commit", Family::Execute),
            ("git -c user.name=x commit", Family::Deliver),
            ("pnpm --filter web run lint", Family::Verify),
            ("echo cargo test", Family::Execute),
            ("cat tests/a.rs", Family::Execute),
            ("", Family::Execute),
        ] {
            let got = family(line);
            assert_eq!(got, expected, "{line}");
        }
    }
}
