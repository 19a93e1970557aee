#!/usr/bin/python3
"""A tetrahedral mesh of an implicit surface: a figure of capsules that melt into each other, on a lattice that is pulled onto the surface.

    PYTHONPATH=build/python /usr/bin/python3 python/examples/figure.py figure.mesh

made scenes/figure.mesh. Any function that is negative inside a shape will do in place of `distance`.
"""

import sys

import numpy as np

import pliant

CAPSULES = [  # from, to, radius; m
    ((0, 0.425, 0), (0, 0.43, 0), 0.075),  # head
    ((0, 0.17, 0), (0, 0.30, 0), 0.075),  # trunk
    ((-0.06, 0.31, 0), (-0.20, 0.20, 0.01), 0.036),  # arms
    ((0.06, 0.31, 0), (0.20, 0.20, 0.01), 0.036),
    ((-0.045, 0.15, 0), (-0.085, 0.04, 0), 0.044),  # legs
    ((0.045, 0.15, 0), (0.085, 0.04, 0), 0.044),
]


def distance(x, blend=0.015):
    """Of points (n, 3) from the surface, below zero inside; where capsules meet, they are blended."""
    each = []
    for a, b, radius in CAPSULES:
        a, b = np.array(a), np.array(b)
        t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        each.append(np.linalg.norm(x - a - t[:, None] * (b - a), axis=1) - radius)
    return -blend * np.log(np.exp(-np.array(each) / blend).sum(axis=0))


def gradient(x, h=1e-5):
    return np.stack([(distance(x + h * e) - distance(x - h * e)) / (2 * h) for e in np.eye(3)], axis=1)


def volumes(x, tets):
    a, b, c, d = (x[tets[:, k]] for k in range(4))
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6


def lattice(low, high, cell):
    """Body-centred cubic: the centres of two neighbouring cells and an edge of the face between them make a tetrahedron."""
    n = np.ceil((high - low) / cell).astype(int) + 1
    corners = np.stack(np.meshgrid(*[np.arange(k + 1) for k in n], indexing="ij"), -1).reshape(-1, 3)
    cells = np.stack(np.meshgrid(*[np.arange(k) for k in n], indexing="ij"), -1).reshape(-1, 3)

    def corner(i):
        return (i[..., 0] * (n[1] + 1) + i[..., 1]) * (n[2] + 1) + i[..., 2]

    def centre(i):
        return len(corners) + (i[..., 0] * n[1] + i[..., 1]) * n[2] + i[..., 2]

    tets = []
    for axis in range(3):
        u, v, w = np.roll(np.eye(3, dtype=int), -axis, axis=0)
        near = cells[cells[:, axis] + 1 < n[axis]]
        ring = [near + u, near + u + v, near + u + v + w, near + u + w]
        for k in range(4):
            tets.append(np.stack([centre(near), centre(near + u), corner(ring[k]), corner(ring[(k + 1) % 4])], axis=1))
    x, tets = low + cell * np.concatenate([corners, cells + 0.5]), np.concatenate(tets)
    flipped = volumes(x, tets) < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return x, tets


def outside(tets):
    """Vertices of triangles that belong to one tetrahedron only."""
    faces = np.sort(tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
    face, count = np.unique(faces, axis=0, return_counts=True)
    return np.unique(face[count == 1])


def figure(cell=0.042):
    """Vertices and tetrahedra."""
    x, tets = lattice(np.array([-0.27, -0.03, -0.11]), np.array([0.27, 0.54, 0.11]), cell)
    tets = tets[distance(x[tets].mean(axis=1)) < 0]
    surface, whole = outside(tets), volumes(x, tets)
    for _ in range(30):
        # Onto the surface, as far as no element around loses more than three quarters of its volume.
        target = x.copy()
        target[surface] -= np.clip(distance(x[surface]), -0.4 * cell, 0.4 * cell)[:, None] * gradient(x[surface])
        share = np.full(len(x), 0.5)
        for _ in range(12):
            moved = x + share[:, None] * (target - x)
            flat = volumes(moved, tets) < 0.25 * whole
            if not flat.any():
                x = moved
                break
            share[np.unique(tets[flat])] *= 0.5
    used, tets = np.unique(tets, return_inverse=True)
    return x[used], tets.reshape(-1, 4)


def main(path=None):
    x, tets = figure()
    x[:, 1] -= x[:, 1].min()  # stands on the ground
    mesh = pliant.TetMesh(x, tets)
    off = np.abs(distance(x[outside(tets)] + [0, 0, 0]))
    print(f"{len(x)} vertices, {len(tets)} elements, {volumes(x, tets).sum() * 1e3:.2f} litres, {np.median(off) * 1e3:.1f} mm off the surface")
    assert volumes(x, tets).min() > 0
    assert 0.008 < volumes(x, tets).sum() < 0.011
    if path:
        pliant.write_mesh(path, mesh)
    return mesh


if __name__ == "__main__":
    main(*sys.argv[1:])
