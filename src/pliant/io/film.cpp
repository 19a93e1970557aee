#include "pliant/io/film.hpp"

#include <oneapi/tbb/parallel_invoke.h>

#include <Eigen/Geometry>
#include <algorithm>

#include "pliant/contact/aabb.hpp"
#include "pliant/contact/tessellate.hpp"
#include "pliant/io/fields.hpp"
#include "pliant/render/picture.hpp"

namespace pliant {

namespace {

std::vector<float> to_float(const VecX& x) {
  const Eigen::VectorXf single = x.cast<float>();
  return {single.data(), single.data() + single.size()};
}

VecX to_double(const std::vector<float>& x) {
  return Eigen::Map<const Eigen::VectorXf>(x.data(), static_cast<Eigen::Index>(x.size())).cast<double>();
}

/// What is seen of a body: its surface, with vertices numbered among those on it, and the elements there.
struct Surface {
  const Body& body;
  std::vector<Index> vertices;  ///< of the mesh
  std::vector<Triangle> triangles;
  std::vector<Index> elements;
  std::vector<Index> corners;  ///< of the elements, as numbers among `vertices`, -1 inside; four each, or three

  explicit Surface(const Body& of) : body(of), triangles(of.surface().begin(), of.surface().end()) {
    std::vector<Index> number(body.vertices().size(), -1);
    for (Triangle& t : triangles)
      for (Index& v : t) {
        Index& n = number[at(v)];
        if (n < 0) {
          n = static_cast<Index>(vertices.size());
          vertices.push_back(v);
        }
        v = n;
      }
    const auto add = [&](Index e, const auto& around) {
      if (std::none_of(around.begin(), around.end(), [&](Index v) { return number[at(v)] >= 0; })) return;
      elements.push_back(e);
      for (Index v : around) corners.push_back(number[at(v)]);
    };
    Index e = 0;
    if (body.is_solid())
      for (const Tet& tet : body.mesh->tets()) add(e++, tet);
    else
      for (const Triangle& t : body.surface()) add(e++, t);
  }
};

/// What is drawn of one body at one moment.
struct Skin {
  std::vector<Vec3> positions;  ///< of the surface's vertices
  std::vector<double> stretch;  ///< there: mean of the elements around
};

Skin skin_of(const Surface& surface, const VecX& x) {
  Skin skin;
  for (Index v : surface.vertices) skin.positions.push_back(node(x, surface.body.nodes.begin + v));
  skin.stretch.assign(surface.vertices.size(), 0);
  std::vector<double> count(surface.vertices.size(), 0);
  const std::vector<double> stretch = element_stretches(surface.body, x, surface.elements);
  const std::size_t per_element = surface.body.is_solid() ? 4 : 3;
  for (std::size_t k = 0; k < surface.corners.size(); ++k)
    if (const Index v = surface.corners[k]; v >= 0) {
      skin.stretch[at(v)] += stretch[k / per_element];
      ++count[at(v)];
    }
  for (std::size_t v = 0; v < count.size(); ++v) skin.stretch[v] /= count[v];
  return skin;
}

/// What is drawn of an obstacle at one moment, and of the floors only how high they are.
struct Obstacles {
  std::vector<TriangleMesh> shells;
  double floor = std::numeric_limits<double>::infinity();   ///< along up, m; of the lowest
  double bottom = std::numeric_limits<double>::infinity();  ///< of the lowest shell that is not a plane

  void add(TriangleMesh mesh, const RigidPose& pose, const Vec3& up) {
    for (Vec3& v : mesh.vertices) v = pose.from_rest(v);
    for (const Triangle& t : mesh.triangles)
      for (Index i : t) bottom = std::min(bottom, mesh.vertices[at(i)].dot(up));
    shells.push_back(std::move(mesh));
  }
  /// A plane as a square next to the ball, which is where the bodies are.
  void add(const PlaneShape& plane, const RigidPose& pose, const Vec3& up, const Vec3& centre, double radius) {
    const Vec3 n = pose.rotation * plane.normal, point = pose.from_rest(plane.point);
    if (n.dot(up) > 0.999) {
      floor = std::min(floor, point.dot(up));
      return;
    }
    const double distance = n.dot(centre - point);
    if (std::abs(distance) > 3 * radius) return;
    const Vec3 u = n.unitOrthogonal() * 1.5 * radius, v = n.cross(u), middle = centre - distance * n;
    TriangleMesh square;
    square.vertices = {middle - u - v, middle + u - v, middle + u + v, middle - u + v};
    square.triangles = {{0, 1, 2}, {0, 2, 3}};
    shells.push_back(std::move(square));
  }
};

/// The hollow of a bowl without the block around it.
TriangleMesh hollow(const BowlShape& bowl, TriangleMesh mesh) {
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    return std::any_of(t.begin(), t.end(), [&](Index i) {
      return (mesh.vertices[static_cast<std::size_t>(i)] - bowl.centre).norm() > 1.001 * bowl.radius;
    });
  });
  return mesh;
}

Obstacles obstacles_at(const Model& model, double time, const Vec3& up, const Vec3& centre, double radius) {
  Obstacles all;
  if (model.colliders())
    for (const Collider& collider : model.colliders()->colliders()) {
      const RigidPose pose = collider.motion.pose(time);
      if (const auto* plane = std::get_if<PlaneShape>(&collider.shape))
        all.add(*plane, pose, up, centre, radius);
      else if (const auto* bowl = std::get_if<BowlShape>(&collider.shape))
        all.add(hollow(*bowl, tessellate(collider.shape)), pose, up);
      else
        all.add(tessellate(collider.shape), pose, up);
    }
  if (const ContactModel* contact = model.contact().get()) {
    for (const ContactModel::Placed& plane : contact->planes)
      all.add(plane.plane, plane.motion.pose(time), up, centre, radius);
    for (const ContactModel::Placed& obstacle : contact->obstacles) {
      const Range range = obstacle.positions;
      TriangleMesh mesh;
      for (Index i = range.begin; i < range.end; ++i) mesh.vertices.push_back(node(contact->rest, i));
      for (const Triangle& t : contact->surface->triangles)
        if (t[0] >= range.begin && t[0] < range.end)
          mesh.triangles.push_back({t[0] - range.begin, t[1] - range.begin, t[2] - range.begin});
      all.add(std::move(mesh), obstacle.motion.pose(time), up);
    }
  }
  return all;
}

/// A view from slightly above, whatever direction is up.
CameraFit view_for(const Vec3& gravity) {
  CameraFit fit;
  fit.up = gravity.norm() > 0 ? Vec3(-gravity.normalized()) : Vec3(0, 1, 0);
  Vec3 right = std::abs(fit.up.x()) < 0.9 ? Vec3(1, 0, 0) : Vec3(0, 1, 0);
  right = (right - right.dot(fit.up) * fit.up).normalized();
  const Vec3 forward = fit.up.cross(right);
  fit.view = -0.45 * right + 0.8 * forward - 0.3 * fit.up;
  return fit;
}

}  // namespace

void Film::visit(const State& state) {
  for (std::int64_t i = 0; i < kPictures; ++i)
    if (state.step == (i * steps_ + (kPictures - 1) / 2) / (kPictures - 1)) {
      frames_.push_back({state.time, to_float(state.x)});
      return;
    }
}

void Film::renumber(std::span<const Index> origin) {
  for (FilmFrame& frame : frames_) {
    std::vector<float> positions;
    positions.reserve(3 * origin.size());
    for (Index i : origin) {
      const auto begin = frame.positions.begin() + 3 * static_cast<std::ptrdiff_t>(i);
      positions.insert(positions.end(), begin, begin + 3);
    }
    frame.positions = std::move(positions);
  }
}

void draw_pictures(const std::filesystem::path& folder, const Model& model, const std::vector<FilmFrame>& frames,
                   const State& last) {
  const std::vector<Surface> bodies(model.bodies().begin(), model.bodies().end());
  const auto skins = [&](const VecX& x) {
    std::vector<Skin> all;
    for (const Surface& body : bodies) all.push_back(skin_of(body, x));
    return all;
  };
  std::vector<std::vector<Skin>> moments;
  std::vector<double> times;
  // A run that was continued further may have kept more than are drawn.
  const std::size_t drawn = std::min<std::size_t>(frames.size(), Film::kPictures);
  for (std::size_t i = 0; i < drawn; ++i) {
    const FilmFrame& frame = frames[drawn < 2 ? 0 : i * (frames.size() - 1) / (drawn - 1)];
    moments.push_back(skins(to_double(frame.positions)));
    times.push_back(frame.time);
  }
  moments.push_back(skins(last.x));
  times.push_back(last.time);

  std::vector<Vec3> points;
  double largest = 1.02;  // a body that hardly deforms is not painted as if it did
  for (const auto& moment : moments)
    for (const Skin& skin : moment) {
      points.insert(points.end(), skin.positions.begin(), skin.positions.end());
      for (double s : skin.stretch)
        if (std::isfinite(s)) largest = std::max(largest, s);
    }
  const CameraFit fit = view_for(model.gravity());
  const Camera camera = fit_camera(points, fit);
  double lowest = std::numeric_limits<double>::infinity();
  Aabb box;
  for (const Vec3& p : points) {
    if (!p.allFinite()) continue;
    lowest = std::min(lowest, p.dot(fit.up));
    box.include(p);
  }
  // The ground is the floor, or else below all that is not far below.
  const double radius = 0.5 * (box.max - box.min).norm();
  std::vector<Obstacles> obstacles;
  double floor = std::numeric_limits<double>::infinity(), bottom = lowest;
  for (double time : times) {
    obstacles.push_back(obstacles_at(model, time, fit.up, box.centre(), radius));
    floor = std::min(floor, obstacles.back().floor);
    if (obstacles.back().bottom > lowest - radius) bottom = std::min(bottom, obstacles.back().bottom);
  }
  PictureOptions options;
  options.ground_height = std::isfinite(floor) ? std::min(lowest, floor) : bottom;

  const auto draw = [&](std::size_t m, int width, int supersampling) {
    std::vector<Skin>& moment = moments[m];
    std::vector<PictureSurface> surfaces;
    for (std::size_t b = 0; b < moment.size(); ++b) {
      for (double& s : moment[b].stretch) s = std::clamp((s - 1) / (largest - 1), 0.0, 1.0);
      surfaces.push_back({.positions = moment[b].positions,
                          .triangles = bodies[b].triangles,
                          .colour_values = moment[b].stretch,
                          .edge_bits = {}});
    }
    for (const TriangleMesh& shell : obstacles[m].shells)
      surfaces.push_back({.positions = shell.vertices, .triangles = shell.triangles, .glass = true});
    options.width = width;
    options.height = width * 9 / 16;
    options.supersampling = supersampling;
    options.edge_width = 0.8;
    return render(surfaces, camera, options);
  };
  const Picture picture = draw(moments.size() - 1, 1280, 3);
  std::vector<Picture> strip;
  // One is encoded while the others are drawn.
  tbb::parallel_invoke([&] { write_png(folder / "picture.png", picture); },
                       [&] {
                         for (std::size_t i = 0; i < drawn; ++i) strip.push_back(draw(i, 480, 2));
                       });
  if (!strip.empty()) write_png(folder / "film.png", side_by_side(strip, 3, 6));
}

}  // namespace pliant
