"""Builds the wheel of Pliant (PEP 517) with CMake, for the interpreter that runs pip.

Options, as `pip wheel . --config-settings KEY=VALUE`:

build-dir    an existing build folder of CMake that was configured for the same interpreter, to save compiling the library again
             (scripts/build leaves one in `build`); by default `build-wheel/<interpreter>`, which is kept
libraries    `bundle` copies the shared libraries the module needs into the wheel, so that it runs where none of them is installed
             (needs patchelf); `system` leaves them out; by default they are bundled where patchelf is found

Why no setuptools: all it would do here is to call CMake and to zip the result, and with build isolation, pip's default, it
would have to be downloaded first.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

import repair_libraries

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARY = "Deformable solids, from real time to reference accuracy: one scene, every solver"


def version():
    """The one in CMakeLists.txt, which has it for everything."""
    return re.search(r"project\(pliant VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def metadata():
    return (f"Metadata-Version: 2.1\nName: pliant\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\nClassifier: Programming Language :: C++\n"
            "Classifier: Topic :: Scientific/Engineering :: Physics\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "README.md").read_text())


def run(*command):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], cwd=ROOT, check=True)


def build(options):
    """Returns the folder of a build for this interpreter, with the module in it."""
    given = options.get("build-dir")
    folder = ROOT / (given or f"build-wheel/{sys.implementation.cache_tag}")
    if given:
        cache = (folder / "CMakeCache.txt").read_text()
        suffix = re.search(r"PYTHON_MODULE_EXTENSION:INTERNAL=(\S+)", cache)
        if not suffix or suffix[1] != sysconfig.get_config_var("EXT_SUFFIX"):
            raise SystemExit(f"{folder} was configured for another interpreter than {sys.executable}; leave out build-dir")
    else:
        command = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DPLIANT_PROGRAM=OFF", "-DPLIANT_EXPERIMENTS=OFF",
                   "-DPLIANT_TESTS=OFF", "-DPLIANT_INSTALL=OFF", "-DPLIANT_WERROR=OFF", "-DPLIANT_PYTHON=ON", "-DPLIANT_UNITY=ON",
                   f"-DPython3_EXECUTABLE={sys.executable}"]
        if shutil.which("ninja"):
            command.append("-GNinja")
        # A pybind11 of the interpreter's own, where there is one: newer interpreters need newer ones than Debian's.
        found = subprocess.run([sys.executable, "-m", "pybind11", "--cmakedir"], capture_output=True, text=True)
        if found.returncode == 0:
            command.append(f"-Dpybind11_DIR={found.stdout.strip()}")
        run(*command)
    run("cmake", "--build", folder, "--target", "pliant_python", "--parallel", os.cpu_count() or 1)
    return folder


def platform_tag(bundled):
    machine = platform.machine()
    if not bundled:
        return f"linux_{machine}"
    return f"manylinux_{platform.libc_ver()[1].replace('.', '_')}_{machine}"


def write_wheel(tree, tag, folder):
    """A wheel of all files below `tree`; the list of them, RECORD, comes last."""
    info = tree / f"pliant-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata())
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: pliant_build\nRoot-Is-Purelib: false\nTag: {tag}\n")
    shutil.copy(ROOT / "LICENSE", info / "LICENSE")
    record = []
    name = f"pliant-{version()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in sorted(path for path in tree.rglob("*") if path.is_file()):
            inside = path.relative_to(tree).as_posix()
            content = path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{inside},sha256={digest},{len(content)}")
            wheel.write(path, inside)
        record.append(f"{info.name}/RECORD,,")
        wheel.writestr(f"{info.name}/RECORD", "\n".join(record) + "\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    options = config_settings or {}
    folder = build(options)
    with tempfile.TemporaryDirectory() as scratch:
        run("cmake", "--install", folder, "--component", "python", "--prefix", f"{scratch}/installed", "--strip")
        package = next(pathlib.Path(scratch, "installed").rglob("pliant/__init__.py")).parent
        tree = pathlib.Path(scratch, "wheel")
        shutil.copytree(package, tree / "pliant", ignore=shutil.ignore_patterns("__pycache__"))
        wanted = options.get("libraries", "bundle" if shutil.which("patchelf") else "system")
        if wanted == "bundle":
            repair_libraries.bundle(tree, "pliant")
        else:
            print("shared libraries are not bundled: the wheel is for machines that have them (patchelf bundles them)")
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        return write_wheel(tree, f"{python}-{python}-{platform_tag(wanted == 'bundle')}", wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    name = f"pliant-{version()}"
    target = pathlib.Path(sdist_directory) / f"{name}.tar.gz"
    run("git", "archive", "--format=tar.gz", f"--prefix={name}/", f"--output={target}", "HEAD")
    return target.name
