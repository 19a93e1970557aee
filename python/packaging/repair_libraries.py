"""Makes a wheel independent of the libraries of the machine it was built on, as auditwheel does: copies the shared libraries
that its modules need into <package>.libs, under names of their own, and lets modules and copies find them there (patchelf)."""

import hashlib
import pathlib
import re
import shutil
import subprocess

# What every Linux has: the C library, and the compiler's.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libutil|libstdc\+\+|libgcc_s)\.so")


def needed(library):
    """The libraries a file is linked with, and where they are."""
    lines = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout.splitlines()
    direct = subprocess.run(["patchelf", "--print-needed", str(library)], capture_output=True, text=True, check=True).stdout.split()
    where = {}
    for line in lines:
        found = re.match(r"\s*(\S+) => (/\S+)", line)
        if found:
            where[found[1]] = pathlib.Path(found[2]).resolve()
        elif "not found" in line:
            raise SystemExit(f"{library} needs {line.split()[0]}, which this machine does not have")
    return {name: where[name] for name in direct if name in where and not SYSTEM.match(name)}


def private_name(name, path):
    """libtbb.so.12 becomes libtbb-1a2b3c4d.so.12: no other package of the process has the same."""
    stem, dot, rest = name.partition(".so")
    return f"{stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}{dot}{rest}"


def bundle(tree, package):
    folder = tree / f"{package}.libs"
    copies = {}  # by the name that others ask for
    for module in tree.rglob("*.so"):
        add(module, folder, copies, f"$ORIGIN/{'../' * len(module.relative_to(tree).parents[:-1])}{package}.libs")


def add(binary, folder, copies, search):
    """Copies what the file needs, and what that needs, and renames it in the file."""
    for name, path in needed(binary).items():
        if name not in copies:
            folder.mkdir(exist_ok=True)
            copies[name] = private_name(name, path)
            copy = folder / copies[name]
            shutil.copy(path, copy)
            copy.chmod(0o755)
            add(copy, folder, copies, "$ORIGIN")
            subprocess.run(["patchelf", "--set-soname", copies[name], str(copy)], check=True)
        subprocess.run(["patchelf", "--replace-needed", name, copies[name], str(binary)], check=True)
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", search, str(binary)], check=True)
