/* Plain C: a tetrahedron of the caller's own arrays falls on the floor, is picked up and let go. */
#include <pliant/pliant.h>
#include <stdio.h>
#include <stdlib.h>

static const char scene[] =
    "version = 1\n"
    "[simulation]\n"
    "fps = 60\n"
    "duration = 2\n"
    "[[body]]\n"
    "name = 'jelly'\n"
    "mesh = 'mine'\n"
    "material = 'stable-neo-hookean'\n"
    "young = 2e4\n"
    "poisson = 0.4\n"
    "[[collider]]\n"
    "name = 'floor'\n"
    "plane = {point = [0, 0, 0], normal = [0, 1, 0]}\n"
    "[solver]\n"
    "name = 'quasi-newton'\n";

static void check(pliant_status status) {
  if (status == PLIANT_OK) return;
  fprintf(stderr, "%s\n", pliant_last_error());
  exit(1);
}

int main(void) {
  const double vertices[] = {0, 0.5, 0, 1, 0.5, 0, 0, 1.5, 0, 0, 0.5, 1};
  const int32_t tetrahedra[] = {0, 1, 2, 3};
  const pliant_mesh mesh = {"mine", vertices, 4, tetrahedra, 1};
  pliant_simulation* simulation = NULL;
  check(pliant_create(scene, &mesh, 1, &simulation));

  int32_t grab = -1;
  for (int frame = 1; frame <= 120; ++frame) {
    if (frame == 60) { /* a hand from above takes hold of it and lifts it */
      const double eye[3] = {0.1, 3, 0.1}, down[3] = {0, -1, 0}, up[3] = {0.1, 2, 0.1};
      check(pliant_grab(simulation, eye, down, 20, &grab));
      if (grab >= 0) check(pliant_move_grab(simulation, grab, up));
    }
    if (frame == 90 && grab >= 0) check(pliant_release(simulation, grab));

    pliant_report report = {.size = sizeof report};
    check(pliant_step(simulation, &report));
    double x[12];
    check(pliant_get_positions(simulation, x, 12));
    if (frame % 15 == 0)
      printf("%.2f s: top at %.3f m, %s, %d iterations, %lld contacts\n", pliant_time(simulation), x[7], report.outcome,
             (int)report.iterations, (long long)report.contacts);
  }
  pliant_destroy(simulation);
  return 0;
}
