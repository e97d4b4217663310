"""Settings come in layers, and nothing in them is wrong without being named."""

import dataclasses
import re
from pathlib import Path

import pytest

from pegboard.cli.main import cli
from pegboard.config.freeact import pytools_place
from pegboard.config.loading import env_name, known_settings, load
from pegboard.config.parts import worker_settings
from pegboard.config.places import PROJECT_FILE, Located, allowed_file, keyring_folder
from pegboard.config.settings import EmbedSettings, SearchSettings, Settings, SyncSettings
from pegboard.errors import ConfigError


@pytest.fixture
def place(tmp_path):
    """A project folder, a user file beside it, and a way to load the settings that hold there."""
    return Place(tmp_path / "project", tmp_path / "home" / "config.toml")


class Place:
    def __init__(self, project: Path, user_file: Path) -> None:
        self.project, self.user_file = project, user_file
        project.mkdir()
        user_file.parent.mkdir()

    def load(self, cwd: Path | None = None, environ=None, **flags: object) -> Located:
        return load(
            cwd=cwd or self.project,
            environ=environ or {},
            flags={key.replace("__", "."): value for key, value in flags.items()},
            user_file=self.user_file,
        )

    def say(self, text: str) -> Path:
        path = self.project / PROJECT_FILE
        path.write_text(text, encoding="utf-8")
        return path

    def refused(self, environ=None, **flags: object) -> str:
        with pytest.raises(ConfigError) as error:
            self.load(environ=environ, **flags)
        return str(error.value)


def test_without_any_layer_the_defaults_hold(place):
    assert place.load().settings == Settings()


def test_each_layer_overrides_the_one_before(place):
    variable = {"PEGBOARD_SEARCH_LIMIT": "8"}
    place.user_file.write_text("[search]\nlimit = 6\n")
    assert place.load().settings.search.limit == 6
    place.say("[search]\nlimit = 7\n")
    assert place.load().settings.search.limit == 7
    assert place.load(environ=variable).settings.search.limit == 8
    assert place.load(environ=variable, search__limit=9).settings.search.limit == 9


def test_a_layer_leaves_alone_what_it_does_not_mention(place):
    place.user_file.write_text('[search]\nlimit = 6\nmode = "bm25"\n')
    place.say("[search]\nlimit = 7\n")
    found = place.load(environ={"PEGBOARD_EMBED_PROVIDER": "test"}).settings
    assert (found.search.mode, found.search.limit, found.embed.provider) == ("bm25", 7, "test")


@pytest.mark.parametrize(
    ("text", "key", "suggestion"),
    [
        ("bord = 'x'", "'bord'", "'board'"),
        ("[search]\nlimt = 3", "'search.limt'", "'search.limit'"),
        ("[embed.provider]\nname = 'x'", "'embed.provider.name'", "'embed.provider'"),
        ("[serach]\nlimit = 3", "'serach.limit'", "'search.limit'"),
        ("zzz = 1", "'zzz'", "known: "),
    ],
)
def test_an_unknown_key_in_a_file_is_named_with_the_file_and_a_suggestion(
    place, text, key, suggestion
):
    path = place.say(text)
    message = place.refused()
    assert str(path) in message
    assert key in message
    assert suggestion in message


def test_an_unknown_section_is_refused_even_if_it_is_empty(place):
    path = place.say("[serach]\n")
    message = place.refused()
    assert str(path) in message
    assert "serach" in message


def test_an_unknown_key_in_the_user_file_names_the_user_file(place):
    place.user_file.write_text("[sync]\nmax_bytes = 1\n")
    message = place.refused()
    assert str(place.user_file) in message
    assert "'sync.max_bytes'" in message


def test_an_unknown_variable_is_named_with_a_suggestion(place):
    message = place.refused({"PEGBOARD_SEARCH_LIMT": "3"})
    assert "PEGBOARD_SEARCH_LIMT" in message
    assert "PEGBOARD_SEARCH_LIMIT" in message


def test_an_unknown_flag_is_refused(place):
    assert "limt" in place.refused(search__limt=3)


def test_variables_of_tests_and_of_other_programs_are_ignored(place):
    other = {"PEGBOARD_TEST_POSTGRES": "x", "PEGBOARDING": "x", "PATH": "/bin"}
    assert place.load(environ=other).settings == Settings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[search]\nlimit = '5'", "search.limit is '5'; it must be a whole number"),
        ("[search]\nlimit = 5.0", "search.limit is 5.0; it must be a whole number"),
        ("[search]\nlimit = true", "search.limit is True; it must be a whole number"),
        ("[search]\nalpha = 'x'", "search.alpha is 'x'; it must be a number"),
        ("[search]\nalpha = false", "search.alpha is False; it must be a number"),
        ("board = 3", "board is 3; it must be text"),
        ("board = ['x']", "board is ['x']; it must be text"),
        ("[search]\nlimit = 0", "search.limit is 0; it must be at least 1"),
        ("[search]\nlimit = 1001", "search.limit is 1001; it must be at most 1000"),
        ("[search]\nalpha = 1.5", "search.alpha is 1.5; it must be at most 1"),
        ("[search]\nalpha = nan", "search.alpha is nan; it must be "),
        ("[embed]\nprovider = 'lokal'", "it must be one of local, test, disabled"),
    ],
)
def test_a_bad_value_is_named_with_its_file_and_what_would_do(place, text, expected):
    path = place.say(text)
    message = place.refused()
    assert str(path) in message
    assert expected in message


@pytest.mark.parametrize("text", ["five", "", "5.5", "-1", "nan"])
def test_a_bad_value_in_a_variable_names_the_variable(place, text):
    message = place.refused({"PEGBOARD_SEARCH_LIMIT": text})
    assert "PEGBOARD_SEARCH_LIMIT" in message
    assert "search.limit" in message


def test_a_bad_value_in_a_flag_names_the_flag(place):
    assert "--limit" in place.refused(search__limit=0)


def test_a_whole_number_will_do_where_a_number_is_wanted(place):
    place.say("[search]\nalpha = 1\n")
    found = place.load(environ={"PEGBOARD_EMBED_TIMEOUT_SECONDS": "30"}).settings
    assert (found.search.alpha, found.embed.timeout_seconds) == (1.0, 30.0)


def test_bad_toml_names_the_file_and_the_line(place):
    path = place.say("[search]\nlimit = 5\nmode = \n")
    message = place.refused()
    assert str(path) in message
    assert "line 3" in message


def test_a_file_that_is_not_utf_8_is_named(place):
    path = place.project / PROJECT_FILE
    path.write_bytes(b'board = "\xff"\n')
    assert str(path) in place.refused()


def test_a_file_that_cannot_be_read_is_named(place):
    # Regular, open to everybody, and yet no read of its beginning succeeds: not even by root.
    place.user_file.symlink_to("/proc/self/mem")
    message = place.refused()
    assert str(place.user_file) in message
    assert "cannot be read" in message


def test_without_a_project_the_board_is_the_users(place):
    found = place.load()
    assert found.project is None
    assert found.board.name == "board.db"
    assert place.project not in found.board.parents


def test_the_board_of_a_project_is_in_its_own_folder(place):
    place.say("")
    assert place.load().board == place.project / ".pegboard" / "board.db"


def test_the_project_is_found_from_a_folder_inside_it(place):
    place.say("[search]\nlimit = 7\n")
    inside = place.project / "a" / "b"
    inside.mkdir(parents=True)
    found = place.load(cwd=inside)
    assert found.project == place.project
    assert found.board == place.project / ".pegboard" / "board.db"
    assert found.settings.search.limit == 7


def test_the_nearest_project_wins(place):
    place.say("[search]\nlimit = 7\n")
    inner = place.project / "inner"
    inner.mkdir()
    (inner / PROJECT_FILE).write_text("[search]\nlimit = 8\n")
    found = place.load(cwd=inner)
    assert (found.project, found.settings.search.limit) == (inner, 8)


def test_a_relative_board_in_a_file_is_beside_that_file(place):
    place.say('board = "data/tools.db"\n')
    inside = place.project / "inside"
    inside.mkdir()
    assert place.load(cwd=inside).board == place.project / "data" / "tools.db"


def test_a_relative_board_in_the_user_file_is_beside_the_user_file(place):
    place.user_file.write_text('board = "tools.db"\n')
    assert place.load().board == place.user_file.parent / "tools.db"


def test_a_relative_board_in_a_flag_or_variable_is_in_the_working_folder(place):
    place.say('board = "data/tools.db"\n')
    inside = place.project / "inside"
    inside.mkdir()
    assert place.load(cwd=inside, board="other.db").board == inside / "other.db"
    variable = {"PEGBOARD_BOARD": "other.db"}
    assert place.load(cwd=inside, environ=variable).board == inside / "other.db"


def test_an_absolute_board_stays_as_it_is(place, tmp_path):
    place.say(f'board = "{tmp_path}/tools.db"\n')
    assert place.load().board == tmp_path / "tools.db"


def test_a_tilde_in_the_boards_path_is_the_home_folder(place, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    place.say('board = "~/tools.db"\n')
    assert place.load().board == tmp_path / "tools.db"
    assert place.load(board="~/flag.db").board == tmp_path / "flag.db"


def test_every_setting_says_what_it_is_about():
    assert [key for key, _, metadata, _ in known_settings() if not metadata.get("about")] == []


def test_every_setting_has_a_variable_of_its_own():
    names = [env_name(key) for key, *_ in known_settings()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"PEGBOARD_[A-Z0-9_]+", name) for name in names)


@pytest.mark.parametrize("kind", [Settings, EmbedSettings, SearchSettings, SyncSettings])
def test_settings_cannot_be_changed(kind):
    found = kind()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(found, dataclasses.fields(found)[0].name, "x")


@pytest.mark.parametrize("key", [key for key, *_ in known_settings()])
def test_every_default_is_a_value_that_may_be_given(place, key):
    default = {k: value for k, _, _, value in known_settings()}[key]
    assert place.load(environ={env_name(key): str(default)}).settings == Settings()


def test_the_settings_file_that_init_writes_shows_the_defaults(place, monkeypatch):
    monkeypatch.chdir(place.project)
    cli.main(["init"], standalone_mode=False)
    written = (place.project / PROJECT_FILE).read_text()
    assert place.load().settings == Settings()
    uncommented = re.sub(r"^# (?=\w+ = )", "", written, flags=re.MULTILINE)
    place.say(uncommented)
    assert place.load().settings == Settings()
    for key, _, metadata, _ in known_settings():
        shown = re.search(rf"^{key.rpartition('.')[2]} = ", uncommented, re.MULTILINE)
        assert bool(shown) is not metadata.get("personal", False)


def test_servers_of_both_files_are_declared_and_the_projects_wins(place):
    place.user_file.write_text(
        '[mcp.servers.clock]\ncommand = "old"\n[mcp.servers.mine]\nurl = "https://a/mcp"\n', "utf-8"
    )
    path = place.say('[mcp]\n[mcp.servers.clock]\ncommand = "new"\n')
    found = place.load()
    assert {each.name: dict(each.table) for each in found.servers} == {
        "clock": {"command": "new"},
        "mine": {"url": "https://a/mcp"},
    }
    assert found.files == (str(place.user_file), str(path))


def test_a_setting_that_there_was_is_named_and_may_be_left_out(place):
    path = place.say("[mcp]\nparallel = 2\n")
    told = place.refused()
    assert f"{path}: unknown setting 'mcp.parallel'" in told
    assert "leave it out; it is no setting any more: eight servers are" in told
    path.unlink()
    told = place.refused({"PEGBOARD_EMBED_LEASE_SECONDS": "30"})
    assert "unknown setting PEGBOARD_EMBED_LEASE_SECONDS" in told
    assert "leave it out" in told


def test_a_worker_holds_tasks_for_as_long_as_a_service_may_take(place):
    def lease(**said):
        environ = {f"PEGBOARD_EMBED_{name.upper()}": text for name, text in said.items()}
        return worker_settings(place.load(environ=environ).settings.embed).lease_seconds

    service = {"provider": "openai-compatible", "model": "m", "base_url": "https://a.example/v1"}
    assert lease() == lease(timeout_seconds="600") == 60
    assert lease(**service, timeout_seconds="100", max_retries="2") >= 300


def test_a_server_that_is_no_table_is_told_with_its_place(place):
    place.say('[mcp.servers]\nclock = "uvx mcp-server-time"\n')
    assert "[mcp.servers.github]" in place.refused()


def test_a_policy_that_does_not_exist_is_refused(place):
    assert "hold, warn, allow" in place.refused({"PEGBOARD_TRUST_CHANGED": "maybe"})


def test_freeacts_variables_have_freeacts_defaults(tmp_path):
    found = pytools_place(cwd=tmp_path, environ={})
    assert found.folder == Path(".freeact/generated")
    assert found.board == tmp_path / ".freeact" / "search.db"
    assert (found.sync, found.watch, found.notices) == (True, True, ())
    assert found.settings == Settings()


def test_a_model_that_would_need_a_key_is_replaced_and_said_so(tmp_path):
    model = {"PYTOOLS_EMBEDDING_MODEL": "google-gla:gemini-embedding-001"}
    found = pytools_place(cwd=tmp_path, environ=model | {"PYTOOLS_EMBEDDING_DIM": "3072"})
    assert found.settings == Settings()
    assert "gemini-embedding-001" in found.notices[0]


def test_the_test_model_takes_its_dimension(tmp_path):
    said = {"PYTOOLS_EMBEDDING_MODEL": "test", "PYTOOLS_EMBEDDING_DIM": "64"}
    found = pytools_place(cwd=tmp_path, environ=said).settings.embed
    assert (found.provider, found.dimension) == ("test", 64)


def test_other_weights_than_one_are_those_of_rrf(tmp_path):
    found = pytools_place(cwd=tmp_path, environ={"PYTOOLS_VEC_WEIGHT": "2.5"}).settings.search
    assert (found.fusion, found.bm25_weight, found.vector_weight) == ("rrf", 1.0, 2.5)
    same = pytools_place(cwd=tmp_path, environ={"PYTOOLS_VEC_WEIGHT": "1"}).settings.search
    assert same.fusion == "sum"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PYTOOLS_SYNC", "perhaps", "true or false"),
        ("PYTOOLS_VEC_WEIGHT", "much", "a number"),
        ("PYTOOLS_BM25_WEIGHT", "-1", "at least 0"),
    ],
)
def test_a_variable_of_freeacts_with_no_meaning_is_named(tmp_path, name, value, said):
    with pytest.raises(ConfigError, match=said) as error:
        pytools_place(cwd=tmp_path, environ={name: value})
    assert name in str(error.value)


@pytest.mark.parametrize(("text", "meant"), [("TRUE", True), ("0", False), ("off", False)])
def test_switches_are_read_as_people_write_them(tmp_path, text, meant):
    assert pytools_place(cwd=tmp_path, environ={"PYTOOLS_WATCH": text}).watch is meant


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("embed", "base_url"),
        ("embed", "api_key"),
        ("blobs", "access_key"),
        ("blobs", "secret_key"),
    ],
)
def test_where_a_persons_keys_go_is_not_for_a_project_to_say(place, section, key):
    place.say(f'[{section}]\n{key} = "env:MY_SECRET"\n')
    said = place.refused()
    assert f"a project may not set {section}.{key}" in said
    assert f"PEGBOARD_{section.upper()}_{key.upper()}" in said


def test_where_a_persons_keys_go_may_be_said_in_their_own_file(place):
    place.user_file.parent.mkdir(parents=True, exist_ok=True)
    place.user_file.write_text('[embed]\napi_key = "env:MY_KEY"\n', encoding="utf-8")
    assert place.load().settings.embed.api_key == "env:MY_KEY"


def test_the_names_of_other_search_tools_say_which_model_and_where(place):
    said = {
        "PEGBOARD_SEARCH_MODEL": "openai-compatible:bge-m3",
        "PEGBOARD_SEARCH_DEVICE": "cpu",
        "PEGBOARD_SEARCH_NO_CACHE": "true",
        "PEGBOARD_SEARCH_LIMIT": "3",
        "PEGBOARD_SEARCH_THRESHOLD": "0.35",
        "PEGBOARD_SEARCH_ALPHA": "0.7",
    }
    found = place.load(environ=said).settings
    assert (found.embed.provider, found.embed.model) == ("openai-compatible", "bge-m3")
    assert (found.embed.device, found.embed.cache) == ("cpu", "off")
    assert (found.search.limit, found.search.threshold, found.search.alpha) == (3, 0.35, 0.7)


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("local", "local", ""),
        ("all-MiniLM-L6-v2", "local", ""),
        ("openai:text-embedding-3-small", "pydantic-ai", "openai:text-embedding-3-small"),
        ("local-http:a:b", "local-http", "a:b"),
    ],
)
def test_a_model_is_named_as_everywhere(place, text, provider, model):
    place.say('[embed]\nprovider = "openai-compatible"\nmodel = "other"\n')
    found = place.load(environ={"PEGBOARD_SEARCH_MODEL": text}).settings.embed
    assert (found.provider, found.model) == (provider, model)


def test_a_model_alone_is_one_of_the_provider_that_is_set(place):
    place.say('[embed]\nprovider = "openai-compatible"\n')
    found = place.load(environ={"PEGBOARD_SEARCH_MODEL": "bge-m3"}).settings.embed
    assert (found.provider, found.model) == ("openai-compatible", "bge-m3")


def test_another_name_goes_before_files_and_behind_flags(place):
    place.say('[embed]\ndevice = "gpu"\n')
    variable = {"PEGBOARD_SEARCH_DEVICE": "cpu"}
    assert place.load(environ=variable).settings.embed.device == "cpu"
    assert place.load(environ=variable, embed__device="auto").settings.embed.device == "auto"


def test_two_names_for_one_setting_must_agree(place):
    said = {"PEGBOARD_SEARCH_DEVICE": "cpu", "PEGBOARD_EMBED_DEVICE": "gpu"}
    message = place.refused(said)
    assert "PEGBOARD_SEARCH_DEVICE" in message
    assert "unset PEGBOARD_SEARCH_DEVICE or PEGBOARD_EMBED_DEVICE" in message
    agreed = said | {"PEGBOARD_EMBED_DEVICE": "cpu"}
    assert place.load(environ=agreed).settings.embed.device == "cpu"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PEGBOARD_SEARCH_NO_CACHE", "perhaps", "true or false"),
        ("PEGBOARD_SEARCH_DEVICE", "tpu", "one of auto, cpu, gpu"),
    ],
)
def test_a_wrong_value_under_another_name_is_named_with_that_name(place, name, value, said):
    message = place.refused({name: value})
    assert name in message
    assert said in message


def test_an_empty_variable_of_another_name_says_nothing(place):
    said = dict.fromkeys(
        ("PEGBOARD_SEARCH_MODEL", "PEGBOARD_SEARCH_DEVICE", "PEGBOARD_SEARCH_NO_CACHE"), ""
    )
    assert place.load(environ=said).settings == Settings()


def test_where_a_gateway_is_and_its_token_are_no_settings(place):
    said = {"PEGBOARD_GATEWAY": "https://a.example", "PEGBOARD_TOKEN": "secret"}
    assert place.load(environ=said).settings == Settings()
    place.say('gateway = "https://a.example"\n')
    assert "unknown setting 'gateway'" in place.refused()


def test_the_data_folder_has_the_board_the_keys_and_the_cache(place, tmp_path):
    found = place.load(cwd=tmp_path, environ={"PEGBOARD_DATA_DIR": "mine"})
    mine = tmp_path / "mine"
    assert found.board == mine / "board.db"
    assert keyring_folder(found.settings) == mine
    assert allowed_file(found.settings) == mine / "allowed.json"
    assert found.settings.vectors_folder == mine / "cache" / "vectors"


def test_the_data_folder_of_a_file_is_beside_that_file_and_no_projects_to_say(place, tmp_path):
    place.user_file.write_text('data_dir = "mine"\n')
    assert place.load(cwd=tmp_path).board == place.user_file.parent / "mine" / "board.db"
    place.say('data_dir = "mine"\n')
    assert "a project may not set data_dir" in place.refused()


def test_an_evaluation_is_beside_the_file_that_names_it_and_a_project_may(place, tmp_path):
    assert place.load(cwd=tmp_path).settings.publish.eval == ""
    place.say('[publish]\neval = "queries"\n')
    found = place.load(cwd=place.project).settings.publish.eval
    assert found == str(place.project / "queries")
    environ = {"PEGBOARD_PUBLISH_EVAL": "mine"}
    assert place.load(cwd=tmp_path, environ=environ).settings.publish.eval == str(tmp_path / "mine")


def test_a_project_has_its_board_wherever_the_data_folder_is(place):
    place.say("")
    found = place.load(environ={"PEGBOARD_DATA_DIR": "/elsewhere"})
    assert found.board == place.project / ".pegboard" / "board.db"


def test_a_registrys_file_and_token_are_beside_the_file_that_names_them(place, tmp_path):
    place.user_file.write_text('registry = { url = "shared.db", token_file = "token" }\n')
    found = place.load(cwd=tmp_path).settings.registry
    assert found.url == str(place.user_file.parent / "shared.db")
    assert found.token_file == str(place.user_file.parent / "token")
    said = {"PEGBOARD_REGISTRY_URL": "https://a.example", "PEGBOARD_REGISTRY_TOKEN": "secret"}
    assert place.load(environ=said).settings.registry.url == "https://a.example"


@pytest.mark.parametrize("key", ["url", "token_file"])
def test_where_the_registry_is_is_no_projects_to_say(place, key):
    place.say(f'[registry]\n{key} = "https://evil.example"\n')
    assert f"a project may not set registry.{key}" in place.refused()


def test_a_project_may_say_in_which_namespace_it_publishes(place):
    place.say('[registry]\nnamespace = "team-a"\n')
    assert place.load().settings.registry.namespace == "team-a"
