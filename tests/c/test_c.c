/* The C interface, from plain C: every function, its errors too. Prints what fails and exits with 1. */
#include <math.h>
#include <pliant/pliant.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;
#define CHECK(condition)                                                                    \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      printf("line %d: %s\n  last error: %s\n", __LINE__, #condition, pliant_last_error()); \
      ++failures;                                                                           \
    }                                                                                       \
  } while (0)

static const char falling[] =
    "version = 1\n[simulation]\nfps = 100\nduration = 1\n"
    "[[body]]\nname = 'given'\nmesh = 'mine'\nyoung = 1e5\npoisson = 0.3\n"
    "[[body]]\nname = 'box'\nbox = {size = [1, 1, 1], cells = [2, 2, 2], origin = [5, 0, 0]}\nyoung = 1e5\npoisson = "
    "0.3\n"
    "[solver]\nname = 'newton'\n";

static void test_free_fall_and_arrays(void) {
  const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t tetrahedra[] = {0, 1, 2, 3};
  const pliant_mesh mesh = {"mine", vertices, 4, tetrahedra, 1};
  pliant_simulation* s = NULL;
  CHECK(pliant_create(falling, &mesh, 1, &s) == PLIANT_OK);
  if (!s) return;
  CHECK(pliant_node_count(s) == 4 + 27);
  CHECK(pliant_body_count(s) == 2);
  CHECK(strcmp(pliant_body_name(s, 0), "given") == 0 && strcmp(pliant_body_name(s, 1), "box") == 0);
  CHECK(pliant_body_name(s, 2) == NULL);
  size_t first = 9, count = 9;
  CHECK(pliant_body_nodes(s, 1, &first, &count) == PLIANT_OK && first == 4 && count == 27);
  CHECK(pliant_body_triangle_count(s, 0) == 4);
  int32_t triangles[12];
  CHECK(pliant_body_triangles(s, 0, triangles, 12) == PLIANT_OK);
  CHECK(pliant_body_triangles(s, 0, triangles, 11) == PLIANT_BAD_INPUT);
  CHECK(pliant_time_step(s) == 0.01 && pliant_time(s) == 0);

  double x[93], v[93];
  for (int k = 1; k <= 10; ++k) {
    pliant_report report = {.size = sizeof report};
    CHECK(pliant_step(s, &report) == PLIANT_OK);
    CHECK(strcmp(report.outcome, "converged") == 0 && report.advanced == 1 && report.seconds > 0);
  }
  CHECK(fabs(pliant_time(s) - 0.1) < 1e-12);
  /* Implicit Euler falls by g h^2 (1 + 2 + ... + 10). */
  CHECK(pliant_get_positions(s, x, 93) == PLIANT_OK && fabs(x[1] + 9.81 * 1e-4 * 55) < 1e-9);
  CHECK(pliant_get_velocities(s, v, 93) == PLIANT_OK && fabs(v[1] + 0.981) < 1e-9);
  CHECK(pliant_get_positions(s, x, 92) == PLIANT_BAD_INPUT && strstr(pliant_last_error(), "93"));

  /* What is written is what the next step begins with. */
  for (int i = 0; i < 93; ++i) v[i] = i % 3 == 0 ? 2 : 0;
  CHECK(pliant_set_velocities(s, v, 93) == PLIANT_OK);
  for (int i = 0; i < 31; ++i) x[3 * i + 2] += 7;
  CHECK(pliant_set_positions(s, x, 93) == PLIANT_OK);
  CHECK(pliant_step(s, NULL) == PLIANT_OK);
  double y[93];
  CHECK(pliant_get_positions(s, y, 93) == PLIANT_OK);
  CHECK(fabs(y[0] - x[0] - 0.02) < 1e-9 && fabs(y[2] - x[2]) < 1e-9);
  x[5] = NAN;
  CHECK(pliant_set_positions(s, x, 93) == PLIANT_BAD_INPUT);
  CHECK(pliant_set_positions(s, x, 90) == PLIANT_BAD_INPUT);
  pliant_destroy(s);
}

static void test_grabs(void) {
  static const char hanging[] =
      "version = 1\n[simulation]\nfps = 100\nduration = 1\ngravity = [0, 0, 0]\n"
      "[[body]]\nname = 'box'\nbox = {size = [1, 1, 1], cells = [2, 2, 2]}\nyoung = 1e6\npoisson = 0.3\n";
  pliant_simulation* s = NULL;
  CHECK(pliant_create(hanging, NULL, 0, &s) == PLIANT_OK);
  if (!s) return;
  const double eye[3] = {0.5, 5, 0.5}, down[3] = {0, -1, 0}, up[3] = {0, 1, 0}, target[3] = {0.5, 2, 0.5};
  int32_t grab = 7;
  CHECK(pliant_grab(s, eye, up, 100, &grab) == PLIANT_OK && grab == -1);
  CHECK(pliant_grab(s, eye, down, 100, &grab) == PLIANT_OK && grab >= 0);
  CHECK(pliant_move_grab(s, grab, target) == PLIANT_OK);
  double x[81], sum = 0;
  for (int k = 0; k < 5; ++k) CHECK(pliant_step(s, NULL) == PLIANT_OK);
  CHECK(pliant_get_positions(s, x, 81) == PLIANT_OK);
  for (int i = 0; i < 27; ++i) sum += x[3 * i + 1] / 27;
  CHECK(sum > 0.55); /* it was at 0.5, and is pulled up by 100 times its weight a metre */
  CHECK(pliant_release(s, grab) == PLIANT_OK);
  CHECK(pliant_release(s, grab) == PLIANT_BAD_INPUT);
  CHECK(pliant_move_grab(s, grab, target) == PLIANT_BAD_INPUT);
  pliant_destroy(s);
}

static void test_errors(void) {
  pliant_simulation* s = (pliant_simulation*)&failures;
  CHECK(pliant_create("version = 1\n[[body]]\nbocks = 3\n", NULL, 0, &s) == PLIANT_BAD_INPUT && s == NULL);
  CHECK(strstr(pliant_last_error(), "bocks") != NULL);
  CHECK(pliant_load("there/is/no/such.toml", &s) == PLIANT_BAD_INPUT);
  CHECK(strstr(pliant_last_error(), "such.toml") != NULL);
  CHECK(pliant_load(NULL, &s) == PLIANT_BAD_INPUT);
  CHECK(pliant_step(NULL, NULL) == PLIANT_BAD_INPUT);
  const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t tetrahedra[] = {0, 1, 2, 4};
  const pliant_mesh mesh = {"mine", vertices, 4, tetrahedra, 1};
  CHECK(pliant_create(falling, &mesh, 1, &s) == PLIANT_BAD_INPUT);
  CHECK(pliant_node_count(NULL) == 0 && pliant_body_count(NULL) == 0);
  pliant_destroy(NULL);
}

static void test_rigid_bodies_show_their_surface(void) {
  static const char scene[] =
      "version = 1\n[simulation]\nfps = 100\nduration = 1\n"
      "[[body]]\nname = 'soft'\nbox = {size = [1, 1, 1], cells = [1, 1, 1]}\nyoung = 1e5\npoisson = 0.3\n"
      "[[rigid]]\nname = 'stone'\nbox = {centre = [5, 0, 0], size = [2, 1, 1]}\n";
  pliant_simulation* s = NULL;
  CHECK(pliant_create(scene, NULL, 0, &s) == PLIANT_OK);
  if (!s) return;
  const size_t nodes = pliant_node_count(s), points = pliant_point_count(s), count = pliant_body_triangle_count(s, 1);
  CHECK(nodes == 8 + 4);
  CHECK(points > nodes);
  CHECK(count >= 12);
  static double x[3 * 1000];
  static int32_t triangles[3 * 1000];
  CHECK(points <= 1000 && count <= 1000);
  CHECK(pliant_get_points(s, x, 3 * points - 1) == PLIANT_BAD_INPUT);
  CHECK(pliant_step(s, NULL) == PLIANT_OK);
  CHECK(pliant_get_points(s, x, 3 * points) == PLIANT_OK);
  CHECK(pliant_body_triangles(s, 1, triangles, 3 * count) == PLIANT_OK);
  double low = 1e9, high = -1e9;
  for (size_t k = 0; k < 3 * count; ++k) {
    CHECK((size_t)triangles[k] >= nodes && (size_t)triangles[k] < points);
    low = fmin(low, x[3 * triangles[k]]);
    high = fmax(high, x[3 * triangles[k]]);
  }
  CHECK(fabs(low - 4) < 1e-6 && fabs(high - 6) < 1e-6);
  pliant_destroy(s);
}

static void test_rigid_bodies_have_a_pose(void) {
  static const char scene[] =
      "version = 1\n[simulation]\nfps = 100\nduration = 1\ngravity = [0, 0, 0]\n"
      "[[body]]\nname = 'soft'\nbox = {size = [1, 1, 1], cells = [1, 1, 1]}\nyoung = 1e5\npoisson = 0.3\n"
      "[[rigid]]\nname = 'stone'\nbox = {centre = [5, 0, 0], size = [1, 1, 1]}\nvelocity = [0, 2, 0]\n"
      "angular_velocity = [0, 0, 0.5]\n";
  pliant_simulation* s = NULL;
  CHECK(pliant_create(scene, NULL, 0, &s) == PLIANT_OK);
  if (!s) return;
  double c[3], r[9];
  CHECK(pliant_body_pose(s, 0, c, r) == PLIANT_BAD_INPUT && strstr(pliant_last_error(), "not rigid"));
  CHECK(pliant_body_pose(s, 2, c, r) == PLIANT_BAD_INPUT);
  CHECK(pliant_body_pose(s, 1, NULL, r) == PLIANT_BAD_INPUT);
  CHECK(pliant_body_pose(s, 1, c, r) == PLIANT_OK);
  for (int i = 0; i < 9; ++i) CHECK(fabs(r[i] - (i % 4 == 0)) < 1e-12);
  for (int k = 0; k < 50; ++k) CHECK(pliant_step(s, NULL) == PLIANT_OK);
  CHECK(pliant_body_pose(s, 1, c, r) == PLIANT_OK);
  CHECK(fabs(c[0] - 5) < 1e-9 && fabs(c[1] - 1) < 1e-9 && fabs(c[2]) < 1e-9);
  /* 0.25 rad about z; implicit Euler damps the turning a little. */
  CHECK(fabs(atan2(r[3], r[0]) - 0.25) < 2e-3 && fabs(r[8] - 1) < 1e-9 && fabs(r[0] - r[4]) < 1e-9);
  CHECK(fabs(r[0] * r[0] + r[3] * r[3] - 1) < 1e-12);
  pliant_destroy(s);
}

int main(int argc, char** argv) {
  CHECK(argc > 1 && strcmp(pliant_version(), argv[1]) == 0);
  CHECK(strcmp(pliant_last_error(), "") == 0 || argc < 2);
  pliant_set_threads(1);
  pliant_set_threads(0);
  test_rigid_bodies_show_their_surface();
  test_rigid_bodies_have_a_pose();
  test_free_fall_and_arrays();
  test_grabs();
  test_errors();
  printf(failures ? "%d checks failed\n" : "every check passed\n", failures);
  return failures > 0;
}
