"""Pages for people say what works: commands, scenes and code of README and manual are run as they stand."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import pliant

PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md"))]


def blocks(page, language=""):
    """The fenced blocks of a page in a language, one after the other."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [text for of, text in found if of == language]


def program():
    path = os.environ.get("PLIANT_PROGRAM")
    return path or str(pathlib.Path(pliant.__file__).resolve().parent.parent.parent / "pliant")


def missing(command):
    """A program that a command needs and this machine lacks."""
    needs = {".mp4": "ffmpeg", ".webm": "ffmpeg", "tetrahedralise": "gmsh"}
    return next((need for end, need in needs.items() for word in command if word.endswith(end) and shutil.which(need) is None), None)


def must_wait(command, without):
    """Whether a command needs a program that this machine lacks, or a file that only such a command would have made: `without` has the names of these."""
    lacking = {pathlib.Path(word).stem for word in command if ("." in word or "/" in word) and not pathlib.Path(word).exists()}
    if missing(command) is None and not without.intersection(lacking):
        return False
    without.update(lacking)
    return True


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A folder that looks like the sources, with the files that pages speak of."""
    (tmp_path / "scenes").symlink_to(ROOT / "scenes")
    ball = pliant.sphere(radius=0.3, cells=6)
    used, triangles = np.unique(ball.surface, return_inverse=True)
    for name in ("figure.obj", "bunny.obj", "flag.obj"):
        pliant.write_surface(tmp_path / name, ball.vertices[used], triangles.reshape(-1, 3))
    for name in ("bunny.msh", "hippo.mesh"):
        pliant.write_mesh(tmp_path / name, ball)
    (tmp_path / "beam.toml").write_text(blocks("README.md", "toml")[0])
    (tmp_path / "bunny.toml").write_text(
        'version = 1\n[simulation]\nfps = 60\nduration = 0.1\n[[body]]\nmesh = "bunny.msh"\nvisual = "bunny.obj"\nyoung = 1e5\npoisson = 0.3\n'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words):
    return subprocess.run([program(), *words], capture_output=True, text=True, check=False)


def test_a_first_hour_works_word_by_word(workshop):
    without = set()
    for line in "".join(blocks("docs/first-hour.md")).splitlines():
        command = shlex.split(line)
        if command[0] in ("scripts/demo", "apt"):  # tried on a fresh machine
            continue
        assert command[0] == "build/pliant", line
        if command[1] == "view":  # waits for a browser; the viewer has tests of its own
            continue
        if must_wait(command[1:], without):
            continue
        done = run(command[1:])
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    made = ["first/picture.png", "first/film.png", "mine/film.png", "twisted-beam-compare/compare.html"]
    if "figure" not in without:
        made += ["figure.gif", "figure/figure.glb"]
    for name in made:
        assert (workshop / "out" / name).exists(), name


# What pages name without making it.
BEFORE = {
    "build/pliant picture out/beam": ["run", "beam.toml", "--out", "out/beam"],
    "build/pliant export out/beam": ["run", "beam.toml", "--out", "out/beam"],
    "pliant picture out/beam": ["run", "beam.toml", "--out", "out/beam"],
    "pliant export out/beam": ["run", "beam.toml", "--out", "out/beam"],
    "pliant export out/bunny": ["run", "bunny.toml", "--out", "out/bunny"],
}
# Commands that take long, wait for a person or need what is not here; each with what stands in for it.
INSTEAD = [
    (r"^(build/)?pliant view ", "the viewer's own tests"),
    (r"^build/pliant reproduce (NAME|--all|--report|--record)", "tests/experiments"),
    (r"^(mpirun|sbatch) ", "tests/distributed, in builds with PETSc"),
    (r"^(scripts/|cmake |ctest |apt |pip |export |/usr/bin/python3 )", "scripts, looked for below"),
    (r"^(blender|paraview) ", "tests/python/test_study.py"),
]


def commands(page):
    """The commands of a page, without the words beside them."""
    for line in "\n".join(blocks(page)).splitlines():
        command = re.split(r"\s{2,}|\s+#\s", line.strip())[0]
        if re.match(r"^(build/pliant |pliant |scripts/|cmake |ctest |apt |pip |export |/usr/bin/|mpirun |sbatch |blender |paraview )", command):
            yield command


def shortened(words):
    """The same command on fewer frames."""
    if words[0] == "run":
        return [*words, "--set", "simulation.duration=0.1", "--force"]
    if words[0] in ("compare", "sweep") and "--frames" not in words:
        return [*words, "--frames", "2"]
    return words


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/first-hour.md" and blocks(page)])
def test_commands_of_pages_work(page, workshop):
    without = set()
    for command in commands(page):
        if any(re.match(pattern, command) for pattern, _ in INSTEAD):
            script = re.match(r"^(scripts/\S+)", command)
            assert script is None or (ROOT / script[1]).exists(), command
            continue
        words = [word for word in shlex.split(command)[1:] if not word.startswith("[")]  # what may be left out
        if must_wait(words, without):
            continue
        if words[-1] == "NAME":
            words[-1] = "something"
        words = ["scenes/swinging-beam.toml" if word == "SCENE" else word for word in words]
        for start, first in BEFORE.items():
            if command.startswith(start):
                if not (workshop / first[-1]).exists():
                    assert run(shortened(first)).returncode == 0, first
                break
        done = run(shortened(words))
        assert done.returncode == 0, f"{page}: {command}\n{done.stdout}\n{done.stderr}"


TOML_BODY = """
[[body]]
name = "{name}"
box = {{size = [1, 1, 1], cells = [2, 2, 2], origin = [{x}, 0, 0]}}
young = 1e5
poisson = 0.3
"""


@pytest.mark.parametrize(("page", "number"), [(page, k) for page in PAGES for k in range(len(blocks(page, "toml")))])
def test_scenes_of_pages_are_valid(page, number, workshop):
    text = blocks(page, "toml")[number]
    if text.startswith("material"):
        text = TOML_BODY.format(name="block", x=0).replace("young = 1e5\npoisson = 0.3\n", text)
    if "version" not in text:
        named = set(re.findall(r'^(?:body|to_body|first|second) = "(\w+)"', text, re.MULTILINE))
        made = set(re.findall(r'^name = "(\w+)"', text, re.MULTILINE))
        others = [TOML_BODY.format(name=name, x=3 * k if "[contact" in text else 0) for k, name in enumerate(sorted(named - made - {"floor"}))]
        floor = '[[collider]]\nname = "floor"\nplane = {point = [0, -1, 0]}\n' if "floor" in named else ""
        text = "version = 1\n[simulation]\nfps = 60\nduration = 0.1\n" + text + "".join(others) + floor
    (workshop / "page.toml").write_text(text)
    done = run(["check", "page.toml"])
    assert done.returncode == 0, f"{page}\n{text}\n{done.stdout}{done.stderr}"


def stage():
    """What the pages' snippets take for granted, each time anew."""
    mesh = pliant.box(size=(2, 1, 1), cells=(4, 2, 2))
    sim = pliant.Simulation(dt=1 / 60, gravity=(0, -9.81, 0), solver={"name": "pod-newton", "tolerance": 1e-6})
    rubber = pliant.material("neo-hookean", young=4e5, poisson=0.4)
    beam = sim.add_body(mesh, rubber, density=1000, name="beam")
    sim.pin(beam, mesh.vertices[:, 0] < 1e-9)
    vertices, tets = np.array(mesh.vertices), np.array(mesh.tets)
    points = np.random.default_rng(1).random((4, 4, 3))
    return {
        "pliant": pliant, "np": np, "mesh": mesh, "sim": sim, "beam": beam, "rubber": rubber, "vertices": vertices, "tets": tets,
        "labels": np.zeros(len(tets), int), "mask": vertices[:, 0] > 1.9, "F": np.tile(np.eye(3), (5, 1, 1)),
        "moduli": np.full(len(tets), 4e5), "directions": np.tile([1.0, 0, 0], (len(tets), 1)),
        "kicks": np.zeros((64, len(vertices), 3)), "goal": vertices,
        "p": points[0], "t0": points[1], "t1": points[2], "t2": points[3], "a0": points[0], "a1": points[1], "b0": points[2],
        "b1": points[3], "dhat": 2.0, "p_end": points[0] + 1, "t0_end": points[1], "t1_end": points[2], "t2_end": points[3],
    }  # fmt: skip


def before_gradients(names):
    names["sim"].add_load(names["beam"], "x-max", (0, -5, 0), name="pull")


def before_changes(names):
    before_gradients(names)
    names["sim"].pin(names["beam"], "x-min", name="left")


def before_shells(names):
    before_cushion(names)
    names.update(vertices=np.array([[0.0, 9, 0], [1, 9, 0], [0, 9, 1], [1, 9, 1]]), triangles=np.array([[0, 1, 2], [1, 3, 2]]),
                 points=np.array([[0.0, 12, 0], [1, 12, 0], [1, 13, 0]]))


def before_regions(names):
    core = [0, 3, 5]
    names["mesh"] = pliant.TetMesh(names["vertices"], names["tets"], regions=np.where(np.arange(len(names["tets"])) < 9, 3, 0))
    names.update(stiff=pliant.material("neo-hookean", young=1e7, poisson=0.3), mask=np.isin(np.arange(len(names["vertices"])), core))


def before_cushion(names):
    names["cushion"] = names["sim"].add_body(pliant.box(size=(1, 0.5, 1), cells=(2, 1, 2), origin=(0.5, 1, 0)), names["rubber"])


def before_springs(names):
    pairs = np.array([[0, 1], [1, 2]])
    names.update(pairs=pairs, K=100.0, REST=np.linalg.norm(names["vertices"][pairs[:, 1]] - names["vertices"][pairs[:, 0]], axis=1))


def before_matrices(names):
    sparse = pytest.importorskip("scipy.sparse")
    n = 60
    K = sparse.kron(sparse.diags([-1, 4, -1], [-1, 0, 1], shape=(n, n)), sparse.eye(3)).tocsc()
    names.update(K=K, K_changed=1.5 * K, f=np.ones(3 * n), interface=[1, 2, 3])


def before_results(names):
    names["sim"].run(0.1, out="out/beam")


def before_meshes(names):
    meshio = pytest.importorskip("meshio")
    meshio.Mesh(names["vertices"], [("tetra", names["tets"])]).write("part.inp")
    names["meshio"] = meshio


BEFORE_PYTHON = {
    "tape = pliant.record": before_gradients, "regions={": before_regions, "sim.attach(": before_cushion,
    "sim.add_energy(": before_springs, "SparseCholesky(": before_matrices, "meshio.read": before_meshes, "steps.jsonl": before_results,
    'sim.remove("pin", "left")': before_changes, "sim.add_shell(": before_shells,
}  # fmt: skip


@pytest.mark.parametrize(("page", "number"), [(page, k) for page in PAGES for k in range(len(blocks(page, "python")))])
def test_python_of_pages_runs(page, number, workshop):
    text = blocks(page, "python")[number]
    names = stage()
    for words, prepare in BEFORE_PYTHON.items():
        if words in text:
            prepare(names)
    text = text.replace("sim.run(2.0", "sim.run(0.1").replace("steps=50", "steps=3").replace("batch.step(100)", "batch.step(2)")
    text = text.replace('sim.run(out="out/twisted")', 'sim.run(0.1, out="out/twisted")')
    exec(text, names)  # noqa: S102


def test_python_of_comparisons_gives_what_the_page_says(workshop):
    names = {"pliant": pliant}
    for block in blocks("docs/compare.md", "python"):
        exec(block, names)  # noqa: S102
    assert names["result"]["quasi-newton"].finished


# Languages that other tests take care of, with where.
ELSEWHERE = {
    "cpp": "quoted from the sources (scripts/check-quotes) or compiled (examples/, below)",
    "cmake": "tests/install",
    "json": "tests/view and viewer/tests/protocol.test.mjs",
    "julia": "the C interface it calls: tests/c",
}


def test_no_block_is_of_a_language_that_no_test_knows():
    for page in PAGES:
        for language in re.findall(r"^```(\w+)\n", (ROOT / page).read_text(), re.MULTILINE):
            assert language in {"python", "toml", *ELSEWHERE}, f"{page}: {language}"


def test_every_scene_is_in_the_gallery_and_told_what_its_pictures_cost():
    gallery, costs = (ROOT / "docs/gallery.md").read_text(), (ROOT / "docs/pictures.md").read_text()
    for scene in sorted((ROOT / "scenes").glob("*.toml")):
        name = scene.stem
        title = re.search(r'^title = "(.)(.*)"$', scene.read_text(), re.MULTILINE)
        assert f"### {name}\n\n{title[1].upper()}{title[2]}: [scenes/{name}.toml]" in gallery, name
        assert (ROOT / f"docs/images/scenes/{name}.png").exists(), name
        assert f"\n| {name} |" in costs, name


def without_code(page):
    return re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)


def places(page):
    """What may stand behind the # of a link: the headings, as GitHub and the site name them."""
    found, count = set(), {}
    for heading in re.findall(r"^#+ (.*)", without_code(page), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        count[name] = count.get(name, -1) + 1
        found.add(f"{name}-{count[name]}" if count[name] else name)
    return found


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md"])
def test_every_link_of_a_page_leads_to_a_file_and_its_heading(page):
    for target, place in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", without_code(page)):
        if target.startswith("http"):
            continue
        file = (ROOT / page).parent / target if target else ROOT / page
        assert file.exists(), f"{page}: {target}"
        if place and file.suffix == ".md":
            assert place in places(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file), f"{page}: {target}#{place}"


def test_no_link_leads_out_of_the_site(tmp_path):
    pages = tmp_path / "pages"
    subprocess.run([sys.executable, str(ROOT / "scripts/support/site_pages.py"), str(ROOT), str(pages)], check=True)
    assert (pages / "index.md").exists()
    menu = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert {page.name for page in (ROOT / "docs").glob("*.md")} <= set(menu)
    for page in pages.rglob("*.md"):
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not target.startswith("http"):
                reached = (page.parent / target).resolve()
                assert reached.is_relative_to(pages.resolve()) and reached.is_file(), f"{page.name}: {target}"
