"""Collects what scripts/site shows into a folder: the pages of docs/, README.md as the home page, and every other file of
the repository that a page links to, so that no link leads out of the site. Usage: site_pages.py REPOSITORY FOLDER"""

import pathlib
import re
import shutil
import sys

LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")


def place_in_site(target: pathlib.Path, root: pathlib.Path) -> str:
    """Where a file of the repository is in the site."""
    path = target.relative_to(root)
    if path.parts[0] == "docs":
        return path.relative_to("docs").as_posix()
    if path == pathlib.Path("README.md"):
        return "index.md"
    if path.suffix in (".md", ".png", ".gif"):
        return path.as_posix()
    return f"files/{path.as_posix()}.txt"  # browsers show it in place of saving it


def main() -> None:
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "docs", folder, ignore=shutil.ignore_patterns("*.in"))
    shutil.copy(root / "viewer/src/icon.svg", folder)
    waiting = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    done = set()
    while waiting:
        page = waiting.pop()
        if page in done:
            continue
        done.add(page)
        place = place_in_site(page, root)

        def follow(match: re.Match[str]) -> str:
            begin, link, anchor, end = match.groups()
            target = (page.parent / link).resolve()
            if "://" in link or not target.is_relative_to(root) or not target.exists():
                return match.group(0)  # elsewhere, or a mistake that mkdocs reports
            if target.is_dir():  # its contents
                text = "\n".join(sorted(p.name for p in target.iterdir())) + "\n"
            elif target.suffix == ".md":
                waiting.append(target)
                text = None
            else:
                text = None if target.is_relative_to(root / "docs") else target.read_text(encoding="utf-8")
            where = place_in_site(target, root)
            if text is not None:
                copy = folder / where
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(text, encoding="utf-8")
            up = "../" * (len(pathlib.PurePosixPath(place).parts) - 1)
            return f"{begin}{up}{where}{anchor or ''}{end}"

        text = LINK.sub(follow, page.read_text(encoding="utf-8"))
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")


main()
