import type { KubeObject } from '#apimachinery/meta/types';
import { type JsonObject, setOwn } from '#apimachinery/patch/own-property';

/** Replaces the members of an object in place by those of another, so that all references see the change. */
export function replaceObject(target: KubeObject, source: KubeObject): void {
  if (target === source) return;
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key);
  for (const [key, value] of Object.entries(source)) setOwn(target as unknown as JsonObject, key, value);
}
