/** @file
 * Pliant for C, and for languages that call C: Unity and Unreal, Rust, Julia, and others.
 *
 * A simulation is an opaque handle. Functions that can fail return a pliant_status; what went wrong, with the remedy,
 * is then in pliant_last_error(), for the thread that called. No exception leaves this interface. A handle may be used
 * from any thread, by one thread at a time. Lengths are in metres, everything else in SI units too; coordinates are x,
 * y, z of node 0, then of node 1, and so on.
 *
 * The library is libpliant_c.so.N. N changes when a program that was compiled before would no longer run; functions are
 * added without a new N.
 */
#ifndef PLIANT_PLIANT_H
#define PLIANT_PLIANT_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define PLIANT_API __declspec(dllexport)
#else
#define PLIANT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A scene that runs. */
typedef struct pliant_simulation pliant_simulation;

/** How a call went. */
typedef enum pliant_status {
  PLIANT_OK = 0,
  PLIANT_BAD_INPUT = 1,   /**< the message names the place and the remedy */
  PLIANT_STEP_FAILED = 2, /**< the step was not taken and the state is as it was; the report says why */
  PLIANT_FAILED = 3       /**< out of memory, or a file that cannot be read */
} pliant_status;

/** A tetrahedral mesh in the caller's memory, copied when it is used. */
typedef struct pliant_mesh {
  const char* name;          /**< what the key `mesh` of a body in the scene's text says */
  const double* vertices;    /**< 3 * vertex_count coordinates at rest */
  size_t vertex_count;       /**< */
  const int32_t* tetrahedra; /**< 4 * tetrahedron_count vertex numbers, from 0; (b - a) x (c - a) . (d - a) > 0 */
  size_t tetrahedron_count;  /**< */
} pliant_mesh;

/** How a step went. Set `size` to sizeof(pliant_report) before the call: only that much is written. */
typedef struct pliant_report {
  size_t size;           /**< of this struct, from the caller */
  const char* outcome;   /**< "converged", "budget-spent", ... (docs/architecture.md); valid for ever */
  int32_t advanced;      /**< 1 where the state is a new one */
  int32_t iterations;    /**< of the solver */
  double seconds;        /**< of wall clock */
  double force_residual; /**< what is missing to the equation of the step, N */
  double minimum_gap;    /**< between surfaces in contact, m; infinity where there are none */
  int64_t contacts;      /**< pairs of surface parts that repel each other */
} pliant_report;

/** The version of the library, for example "0.2.0". */
PLIANT_API const char* pliant_version(void);
/** What the last failed call of this thread had to say. Empty before any; valid until the next call that fails. */
PLIANT_API const char* pliant_last_error(void);
/** Limits the threads that steps of all simulations use; 0: as many as there are cores. */
PLIANT_API void pliant_set_threads(int32_t count);

/** A simulation of a scene file (docs/scene.md). */
PLIANT_API pliant_status pliant_load(const char* path, pliant_simulation** result);
/** A simulation of a scene in TOML text, the same keys. Bodies may name the given meshes; `meshes` may be NULL when
 * mesh_count is 0. Paths in the text begin at the current folder. */
PLIANT_API pliant_status pliant_create(const char* scene_text, const pliant_mesh* meshes, size_t mesh_count,
                                       pliant_simulation** result);
/** NULL is allowed. */
PLIANT_API void pliant_destroy(pliant_simulation* simulation);

/** Advances by the scene's time step. `report` may be NULL. */
PLIANT_API pliant_status pliant_step(pliant_simulation* simulation, pliant_report* report);
/** s since the start. */
PLIANT_API double pliant_time(const pliant_simulation* simulation);
/** s, of one step. */
PLIANT_API double pliant_time_step(const pliant_simulation* simulation);

/** Nodes of all bodies, one body after the other. A scene with cuts has more of them after a cut. */
PLIANT_API size_t pliant_node_count(const pliant_simulation* simulation);
/** Bodies, in the order of the scene. */
PLIANT_API size_t pliant_body_count(const pliant_simulation* simulation);
/** Its name, valid until the next step; NULL for a body that does not exist. */
PLIANT_API const char* pliant_body_name(const pliant_simulation* simulation, size_t body);
/** The nodes of a body: `count` of them from `first` on. Its vertices come first. */
PLIANT_API pliant_status pliant_body_nodes(const pliant_simulation* simulation, size_t body, size_t* first,
                                           size_t* count);
/** How many triangles the surface of a body has; 0 for a body that does not exist. */
PLIANT_API size_t pliant_body_triangle_count(const pliant_simulation* simulation, size_t body);
/** They face outwards. `triangles` has room for 3 * triangle count numbers of points (pliant_get_points); those of
 * bodies that deform are nodes. */
PLIANT_API pliant_status pliant_body_triangles(const pliant_simulation* simulation, size_t body, int32_t* triangles,
                                               size_t room);

/** What there is to draw: the nodes, and behind them the vertices of rigid bodies' surfaces, which their four nodes
 * carry. Without rigid bodies, as many as nodes. */
PLIANT_API size_t pliant_point_count(const pliant_simulation* simulation);
/** Copies 3 * point count numbers, m; `room` is how many fit. */
PLIANT_API pliant_status pliant_get_points(const pliant_simulation* simulation, double* points, size_t room);

/** Where a rigid body is: its centre of mass, m, and row by row the rotation that took it there from the start of the
 * scene. A point that was at X is at centre + rotation (X - centre at the start). Bodies that deform have none. */
PLIANT_API pliant_status pliant_body_pose(const pliant_simulation* simulation, size_t body, double centre[3],
                                          double rotation[9]);

/** Copies 3 * node count numbers, m; `room` is how many fit. */
PLIANT_API pliant_status pliant_get_positions(const pliant_simulation* simulation, double* positions, size_t room);
/** Takes 3 * node count numbers, m, for the next step to begin at. */
PLIANT_API pliant_status pliant_set_positions(pliant_simulation* simulation, const double* positions, size_t count);
/** m/s */
PLIANT_API pliant_status pliant_get_velocities(const pliant_simulation* simulation, double* velocities, size_t room);
/** m/s */
PLIANT_API pliant_status pliant_set_velocities(pliant_simulation* simulation, const double* velocities, size_t count);

/** Takes hold of the first surface point along a ray, as a mouse does, where it is. A pull by a metre is as strong as
 * `strength` times the weight of the body; 100 is a firm hand. `grab` gets a number for it, or -1 where the ray meets
 * nothing. */
PLIANT_API pliant_status pliant_grab(pliant_simulation* simulation, const double eye[3], const double direction[3],
                                     double strength, int32_t* grab);
/** Where the point is pulled to, from the next step on. */
PLIANT_API pliant_status pliant_move_grab(pliant_simulation* simulation, int32_t grab, const double target[3]);
/** Lets go. A cut lets go of everything. */
PLIANT_API pliant_status pliant_release(pliant_simulation* simulation, int32_t grab);

#ifdef __cplusplus
}
#endif

#endif
