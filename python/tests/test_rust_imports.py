"""Circles are found whatever way files take to each other, and nothing else is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest
import rust_imports

FACADE = "mod bank;\nmod plan;\npub use bank::Bank;\npub use self::plan::{Plan, Route};\n"


def crate(folder: Path, files: dict[str, str]) -> rust_imports.Crate:
    for name, code in files.items():
        path = folder / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    return rust_imports.Crate(folder)


@pytest.mark.parametrize(
    ("bank", "plan"),
    [
        ("use crate::merge::Plan;\nfn bank(_: Plan) {}", "use super::bank::Bank;"),
        ("use super::{Bank as Own, plan::Route};", "fn plan(_: crate::merge::Bank) {}"),
        ("use crate::merge;\nfn bank(_: merge::plan::Plan) {}", "use crate::merge::{self, Bank};"),
        ("use super::super::Plan as Other;", "fn plan() -> Vec<super::bank::Bank> { Vec::new() }"),
        ("use crate::{log, merge::{plan::{Plan}}};", 'const X: &str = "{";\nuse crate::Bank;'),
    ],
)
def test_two_files_that_import_each_other_are_a_circle(
    tmp_path: Path, bank: str, plan: str
) -> None:
    files = {
        "lib.rs": "mod log;\nmod merge;\npub use merge::{Bank, Plan};\n",
        "log.rs": "pub struct Log;",
        "merge/mod.rs": FACADE,
        "merge/bank.rs": bank,
        "merge/plan.rs": plan,
    }
    graph = crate(tmp_path, files).graph()
    assert rust_imports.circles(graph) == {"merge/bank.rs", "merge/plan.rs"}
    assert graph["merge/mod.rs"] == set()


@pytest.mark.parametrize(
    "plan",
    [
        "// use super::bank::Bank;\n/// [`super::bank::Bank`]\npub struct Plan;",
        'fn plan() -> &\'static str { "super::bank::Bank {" }',
        "#[cfg(test)]\nmod tests {\n    use super::super::bank::Bank;\n    fn t() {}\n}",
        '#[cfg(test)]\n#[path = "plan_test.rs"]\nmod tests;',
        "use std::bank::Bank;\nfn plan<'a>(x: &'a [u8]) { x.bank::<u8>() }",
    ],
)
def test_comments_texts_tests_and_other_crates_import_nothing(tmp_path: Path, plan: str) -> None:
    files = {
        "lib.rs": "mod merge;",
        "merge/mod.rs": FACADE,
        "merge/bank.rs": "use super::Plan;",
        "merge/plan.rs": plan,
        "merge/plan_test.rs": "use super::super::bank::Bank;",
    }
    graph = crate(tmp_path, files).graph()
    assert graph["merge/bank.rs"] == {"merge/plan.rs"}
    assert graph["merge/plan.rs"] == set()
    assert rust_imports.circles(graph) == set()


def test_a_module_that_uses_its_children_is_in_a_circle_with_one_that_uses_it(
    tmp_path: Path,
) -> None:
    files = {
        "lib.rs": "mod merge;",
        "merge/mod.rs": "mod bank;\npub struct Config;\nfn begin() { bank::open(); }",
        "merge/bank.rs": "use super::Config;\npub fn open(_: Config) {}",
    }
    assert rust_imports.circles(crate(tmp_path, files).graph()) == {"merge/mod.rs", "merge/bank.rs"}


def test_a_circle_of_three_is_found_and_files_that_only_use_it_are_not_in_it(
    tmp_path: Path,
) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\nmod user;",
        "a.rs": "use crate::b::B;",
        "b.rs": "use crate::c::C;",
        "c.rs": "use crate::a::A;",
        "user.rs": "use crate::a::A;",
    }
    assert rust_imports.circles(crate(tmp_path, files).graph()) == {"a.rs", "b.rs", "c.rs"}
