// The shaders. One light overhead, one beside the camera, and a colour map when a field is shown: cheap enough for a machine that
// draws without a graphics card.
import {
  BufferAttribute,
  Color,
  DataTexture,
  DoubleSide,
  EqualStencilFunc,
  FrontSide,
  IncrementStencilOp,
  LinearFilter,
  RGBAFormat,
  ShaderMaterial,
  SRGBColorSpace,
  Vector2,
  Vector3,
  Vector4,
} from "three";
import { colourTable, type MapName } from "./colours.ts";

export function mapTexture(name: MapName): DataTexture {
  const texture = new DataTexture(colourTable(name), 256, 1, RGBAFormat);
  texture.colorSpace = SRGBColorSpace;
  texture.magFilter = texture.minFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/**
 * The light, common to all materials: from above and from beside the camera. Directions are the same for the whole picture, so that
 * a fragment costs a handful of multiplications.
 */
export const light = {
  up: { value: new Vector3(0, 1, 0) },
  toEye: { value: new Vector3(0, 0, 1) },
  key: { value: new Vector3(0, 0, 1) },
  halfway: { value: new Vector3(0, 0, 1) },
};

export function aimLight(toEye: Vector3, up: Vector3): void {
  light.up.value.copy(up);
  light.toEye.value.copy(toEye).normalize();
  light.key.value.crossVectors(up, toEye).multiplyScalar(0.45).add(toEye).addScaledVector(up, 0.9).normalize();
  light.halfway.value.copy(light.key.value).add(toEye).normalize();
}

/** Pixels of the canvas per CSS pixel, in which sizes of points are given. */
export const screen = { ratio: { value: 1 } };

const LIGHT = /* glsl */ `
  uniform vec3 up;
  uniform vec3 toEye;
  uniform vec3 key;
  uniform vec3 halfway;
  vec3 lit(vec3 base, vec3 n, float strength) {
    float sky = 0.5 + 0.5 * dot(n, up);
    float direct = max(0.0, dot(n, key));
    float shine = max(0.0, dot(n, halfway));
    shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;
    float rim = 1.0 - max(0.0, dot(n, toEye));
    rim *= rim * rim;
    vec3 shaded = base * (mix(0.34, 0.62, sky) + 0.62 * direct) + vec3(0.07 * shine + 0.10 * rim * sky);
    return mix(base, shaded, strength);
  }
`;

/** Of bodies that the field shown has no values for; in no colour map. */
export const PLAIN = "#c9bda8";

export function bodyMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    side: DoubleSide,
    uniforms: {
      ...light,
      map: { value: null },
      mapped: { value: 0 },
      // Byte values 0..1 of this view become (x, y): low and span in the colours' common range.
      scale: { value: new Vector2(0, 1) },
      clip: { value: new Vector4(0, 0, 0, 1e30) },
      inside: { value: new Color("#b9a58e") },
      plain: { value: new Color(PLAIN) },
    },
    vertexShader: /* glsl */ `
      attribute float field;
      attribute float without;
      attribute vec3 tint;
      varying vec3 vNormal;
      #ifdef CLIPPED
        varying vec3 vPosition;
      #endif
      varying vec3 vTint;
      varying float vField;
      varying float vWithout;
      void main() {
        vNormal = normal;
        vWithout = without;
        #ifdef CLIPPED
          vPosition = position;
        #endif
        vTint = tint;
        vField = field;
        gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.0);
      }
    `,
    fragmentShader: /* glsl */ `
      uniform sampler2D map;
      uniform float mapped;
      uniform vec2 scale;
      uniform vec4 clip;
      uniform vec3 inside;
      uniform vec3 plain;
      varying vec3 vNormal;
      #ifdef CLIPPED
        varying vec3 vPosition;
      #endif
      varying vec3 vTint;
      varying float vField;
      varying float vWithout;
      ${LIGHT}
      void main() {
        #ifdef CLIPPED
          if (dot(clip.xyz, vPosition) > clip.w) discard;
        #endif
        vec3 n = normalize(vNormal);
        vec3 base = vTint;
        if (mapped > 0.5) base = vWithout > 0.5 ? plain : texture2D(map, vec2(clamp(scale.x + scale.y * vField, 0.002, 0.998), 0.5)).rgb;
        vec3 colour = lit(base, gl_FrontFacing ? n : -n, mapped > 0.5 ? 0.75 : 1.0);
        #ifdef CLIPPED
          // Seen through the opening of a clipped body: flat, as if the inside were solid.
          if (!gl_FrontFacing) colour = inside;
        #endif
        gl_FragColor = vec4(colour, 1.0);
        #include <colorspace_fragment>
      }
    `,
  });
}

/** The shadow of a body on the ground, as of a lamp above it and a little to the side; each pixel is darkened once. */
export function shadowMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    side: DoubleSide,
    transparent: true,
    depthWrite: false,
    stencilWrite: true,
    stencilFunc: EqualStencilFunc,
    stencilRef: 0,
    stencilZPass: IncrementStencilOp,
    uniforms: { up: light.up, aside: { value: new Vector3() }, ground: { value: 0 }, opacity: { value: 0.16 } },
    vertexShader: /* glsl */ `
      uniform vec3 up;
      uniform vec3 aside;
      uniform float ground;
      varying float vHeight;
      void main() {
        vHeight = dot(position, up) - ground;
        float height = max(0.0, vHeight);
        gl_Position = projectionMatrix * viewMatrix * vec4(position - height * (up + aside), 1.0);
      }
    `,
    fragmentShader: /* glsl */ `
      uniform float opacity;
      varying float vHeight;
      void main() {
        if (vHeight < 0.0) discard; // what hangs below the ground casts no shadow on it, nor on itself
        gl_FragColor = vec4(0.0, 0.0, 0.0, opacity);
      }
    `,
  });
}

/** Lines and points on a body, which vanish with it where it is clipped. */
export function markMaterial(colour: string, opacity: number, pointSize: number): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: {
      colour: { value: new Color(colour) },
      opacity: { value: opacity },
      size: { value: pointSize },
      ...screen,
      clip: { value: new Vector4(0, 0, 0, 1e30) },
    },
    vertexShader: /* glsl */ `
      uniform float size;
      uniform float ratio;
      varying vec3 vPosition;
      void main() {
        vPosition = position;
        vec4 eye = viewMatrix * vec4(position, 1.0);
        eye.xyz *= 0.998;  // a little nearer, so that it lies on the surface and not in it
        gl_Position = projectionMatrix * eye;
        gl_PointSize = size * ratio;
      }
    `,
    fragmentShader: /* glsl */ `
      uniform vec3 colour;
      uniform float opacity;
      uniform float size;
      uniform vec4 clip;
      varying vec3 vPosition;
      void main() {
        if (dot(clip.xyz, vPosition) > clip.w) discard;
        if (size > 0.0 && length(gl_PointCoord - 0.5) > 0.5) discard;
        gl_FragColor = vec4(colour, opacity);
        #include <colorspace_fragment>
      }
    `,
  });
}

export function obstacleMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    // Only the sides that face free space: one looks into a bowl through its outside.
    side: FrontSide,
    transparent: true,
    uniforms: {
      ...light,
      colour: { value: new Color("#9aa3ad") },
      centre: { value: new Vector3() },
      reach: { value: 1 },
      opacity: { value: 1 },
    },
    vertexShader: /* glsl */ `
      varying vec3 vNormal;
      varying vec3 vPosition;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        vNormal = mat3(modelMatrix) * normal;
        vPosition = world.xyz;
        gl_Position = projectionMatrix * viewMatrix * world;
      }
    `,
    fragmentShader: /* glsl */ `
      uniform vec3 colour;
      uniform vec3 centre;
      uniform float reach;
      uniform float opacity;
      varying vec3 vNormal;
      varying vec3 vPosition;
      ${LIGHT}
      void main() {
        vec3 d = (vPosition - centre) / reach;
        float fade = clamp(1.3 - 1.3 * dot(d, d), 0.0, 1.0);
        gl_FragColor = vec4(lit(colour, normalize(vNormal), 1.0), opacity * fade);
        #include <colorspace_fragment>
      }
    `,
  });
}

export function gridMaterial(): ShaderMaterial {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: { colour: { value: new Color("#888888") }, centre: { value: new Vector3() }, reach: { value: 1 }, opacity: { value: 0.5 } },
    vertexShader: /* glsl */ `
      attribute float weight;
      varying vec3 vPosition;
      varying float vWeight;
      void main() {
        vPosition = position;
        vWeight = weight;
        gl_Position = projectionMatrix * viewMatrix * vec4(position, 1.0);
      }
    `,
    fragmentShader: /* glsl */ `
      uniform vec3 colour;
      uniform vec3 centre;
      uniform float reach;
      uniform float opacity;
      varying vec3 vPosition;
      varying float vWeight;
      void main() {
        float fade = 1.0 - smoothstep(0.2, 1.0, length(vPosition - centre) / reach);
        gl_FragColor = vec4(colour, opacity * vWeight * fade);
        #include <colorspace_fragment>
      }
    `,
  });
}

export function dynamicAttribute(array: Float32Array | Uint8Array, size: number, normalized = false): BufferAttribute {
  const attribute = new BufferAttribute(array, size, normalized);
  attribute.setUsage(35048); // DYNAMIC_DRAW
  return attribute;
}
