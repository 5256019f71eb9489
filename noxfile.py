import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.error_on_missing_interpreters = False

PYTHONS = ["3.11", "3.12", "3.13"]
OLDEST = PYTHONS[0]
PROJECT = nox.project.load_toml("pyproject.toml")


def install(session: nox.Session, *groups: str) -> None:
    """Install the project, the kit and the tools of these dependency groups."""
    tools = nox.project.dependency_groups(PROJECT, *groups) if groups else ()
    session.install("-e", ".[cli,test]", "-e", "./conformance", *tools)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The project's own tests, with branch coverage of the core."""
    install(session)
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "report")


@nox.session(python=OLDEST, default=False)
def nightly(session: nox.Session) -> None:
    """What is too long for every run: damaged archives, long histories, every fault.

    The histories: 2,000 operations and 20 kills on each backend, and each guard of a
    backend taken out once, which must be noticed within a minute. Four processes make
    500 operations each on one PostgreSQL store. Every law of a session on each backend.
    The whole conformance kit against sealed scopes before each backend.
    """
    install(session)
    page = "tests/packages/test_content_mutations.py"
    session.run("pytest", page, *session.posargs, env={"UAIX_MUTATION_ROUNDS": "11"})
    kit = ("--pyargs", "uaix_conformance", "-k", "test_16", "--uaix-seconds=20")
    session.run("pytest", *kit, *session.posargs)
    page = "tests/conformance_kit/test_unguarded.py"
    session.run("pytest", page, *session.posargs, env={"UAIX_GUARDS": "all"})
    page = "tests/backends/test_postgres_processes.py"
    session.run("pytest", page, *session.posargs, env={"UAIX_OPERATIONS": "500"})
    page = "tests/session"
    session.run("pytest", page, *session.posargs, env={"UAIX_BACKENDS": "all"})
    # Whole scopes at rest under keys, before each backend.
    sealed = [
        f"--uaix-backend=tests.backends.sealed_harness:over_{name}"
        for name in ("memory", "dir", "sqlite", "postgres")
    ]
    kit = ("--pyargs", "uaix_conformance", *sealed)
    session.run("pytest", *kit, *session.posargs, env={"PYTHONPATH": "."})
    # Every kill point, error and power cut; at least 20 kills of each backend.
    room = ("tests/faults", "--timeout=3600")
    session.run("pytest", *room, *session.posargs, env={"UAIX_FAULTS": "all"})


@nox.session(python=PYTHONS)
def conformance(session: nox.Session) -> None:
    """The conformance kit, against every installed backend."""
    install(session)
    session.run("pytest", "--pyargs", "uaix_conformance", *session.posargs)


@nox.session(python=OLDEST, default=False)
def mutants(session: nox.Session) -> None:
    """Whether each mutant of the judged code is noticed; `-- --help` for parts."""
    install(session)
    results = session.cache_dir / "mutants.jsonl"
    session.run("python", "tests/mutants", f"--results={results}", *session.posargs)


@nox.session(python=OLDEST)
def typing(session: nox.Session) -> None:
    """The type checkers."""
    install(session, "typing")
    session.run("mypy")
    session.run("pyright")


@nox.session(python=OLDEST)
def lint(session: nox.Session) -> None:
    """Style, import floors, spelling, and that each test states its law."""
    install(session, "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports")
    session.run("codespell")
    session.run("interrogate")


@nox.session(python=OLDEST)
def docs(session: nox.Session) -> None:
    """Links, clauses, decision records and the snippets of every page."""
    install(session)
    session.run("pytest", "tests/test_docs.py", *session.posargs)


@nox.session(python=OLDEST)
def bench(session: nox.Session) -> None:
    """The library against the floor; `nox -s bench -- --quick` for a first look."""
    install(session)
    session.run("python", "-m", "benchmarks", *session.posargs)
