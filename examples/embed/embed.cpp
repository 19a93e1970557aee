// A soft block that hangs from the ceiling and swings, at 60 Hz. Two seconds of it, and where its lowest point is.
#include <pliant/pliant.hpp>

#include <cstdio>

int main() try {
  pliant::Scene scene;
  scene.dt = 1.0 / 60;
  scene.solver.name = "quasi-newton";  // `pliant solvers` lists them

  pliant::SceneBody block;
  block.name = "block";
  block.mesh.generator = pliant::BoxOptions{.size = {0.4, 1, 0.4}, .cells = {8, 20, 8}};
  block.material = "stable-neo-hookean";
  block.lame = pliant::lame_from_young(2e4, 0.45);  // Pa
  block.velocity = {1, 0, 0};                       // m/s
  scene.bodies.push_back(block);

  pliant::ScenePin pin;
  pin.name = "ceiling";
  pin.where.any = {pliant::parse_selection("y-max")};
  scene.pins.push_back(pin);

  pliant::Simulation simulation(scene);
  for (int frame = 1; frame <= 120; ++frame) {
    const pliant::StepReport report = simulation.step();
    if (!simulation.took(report)) {
      std::fprintf(stderr, "%s\n", report.detail.c_str());
      return 1;
    }
    if (frame % 20 > 0) continue;
    const pliant::VecX& x = simulation.state()->x;  // x, y, z of each node; draw them here
    double lowest = 0;
    for (Eigen::Index i = 1; i < x.size(); i += 3) lowest = std::min(lowest, x[i]);
    std::printf("%.2f s: lowest point at %.3f m, %.1f ms\n", simulation.state()->time, lowest,
                1e3 * report.seconds.total);
  }
} catch (const pliant::InputError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
