// The camera: it looks at a target from a direction (two angles about the scene's upward axis) and a distance.
import { PerspectiveCamera, Vector3 } from "three";

export interface CameraPose {
  target: [number, number, number];
  /** Angles in radians: around the upward axis, and above the horizon. */
  yaw: number;
  pitch: number;
  /** Of the eye to the target, in a viewport that is at least as wide as high. */
  distance: number;
}

const LARGEST_PITCH = 1.55;

export class OrbitCamera {
  readonly camera = new PerspectiveCamera(38, 1, 0.01, 1000);
  pose: CameraPose = { target: [0, 0, 0], yaw: 0.6, pitch: 0.35, distance: 5 };
  onChange: () => void = () => {};
  /** Whether somebody has turned or moved the view since it was last framed. */
  moved = false;
  private readonly up = new Vector3(0, 1, 0);
  private readonly ahead = new Vector3(0, 0, 1);
  private readonly side = new Vector3(1, 0, 0);

  setUp(up: readonly [number, number, number]): void {
    this.up.set(...up).normalize();
    if (!(this.up.lengthSq() > 0)) this.up.set(0, 1, 0);
    this.ahead.set(0, 0, 1);
    if (Math.abs(this.up.dot(this.ahead)) > 0.9) this.ahead.set(0, -1, 0);
    this.side.crossVectors(this.up, this.ahead).normalize();
    this.ahead.crossVectors(this.side, this.up).normalize();
    this.camera.up.copy(this.up);
    this.apply();
  }

  /** Looks at a box so that all of it is seen. */
  frame(min: readonly [number, number, number], max: readonly [number, number, number], pitch: number): void {
    this.moved = false;
    this.pose.yaw = 0.55;
    this.pose.pitch = pitch;
    this.fit(min, max);
  }

  /** The same from where it looks now. */
  fit(min: readonly [number, number, number], max: readonly [number, number, number]): void {
    const radius = 0.5 * Math.hypot(max[0] - min[0], max[1] - min[1], max[2] - min[2]) || 1;
    this.pose.target = [0, 1, 2].map((k) => 0.5 * (min[k]! + max[k]!)) as [number, number, number];
    this.pose.distance = (1.08 * radius) / Math.sin(this.halfAngle());
    this.apply();
  }

  set(pose: CameraPose): void {
    this.moved = true;
    this.pose = { ...pose, target: [...pose.target] };
    this.apply();
  }

  orbit(yaw: number, pitch: number): void {
    this.moved = true;
    this.pose.yaw += yaw;
    this.pose.pitch = Math.min(LARGEST_PITCH, Math.max(-LARGEST_PITCH, this.pose.pitch + pitch));
    this.apply();
  }

  zoom(factor: number): void {
    this.moved = true;
    this.pose.distance = Math.min(1e5, Math.max(1e-4, this.pose.distance * factor));
    this.apply();
  }

  /** Moves the target in the view plane, in fractions of the viewport's height. */
  pan(right: number, up: number): void {
    this.moved = true;
    const height = 2 * this.pose.distance * this.stepBack() * Math.tan(this.halfAngle());
    const x = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0).multiplyScalar(-right * height);
    const y = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1).multiplyScalar(-up * height);
    const target = new Vector3(...this.pose.target).add(x).add(y);
    this.pose.target = [target.x, target.y, target.z];
    this.apply();
  }

  setAspect(aspect: number): void {
    if (Math.abs(this.camera.aspect - aspect) < 1e-6) return;
    this.camera.aspect = aspect;
    this.apply();
  }

  private halfAngle(): number {
    return (this.camera.fov * Math.PI) / 360;
  }

  /** How much further away the eye is in a viewport narrower than high, so that as much as in a wide one is seen. */
  private stepBack(): number {
    const half = this.halfAngle();
    return Math.sin(half) / Math.sin(Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect)));
  }

  private apply(): void {
    const { target, yaw, pitch } = this.pose;
    const distance = this.pose.distance * this.stepBack();
    const centre = new Vector3(...target);
    this.camera.position
      .copy(centre)
      .addScaledVector(this.up, distance * Math.sin(pitch))
      .addScaledVector(this.ahead, distance * Math.cos(pitch) * Math.cos(yaw))
      .addScaledVector(this.side, distance * Math.cos(pitch) * Math.sin(yaw));
    this.camera.near = distance / 200;
    this.camera.far = distance * 200;
    this.camera.lookAt(centre);
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    this.onChange();
  }
}
