import type { KubeObject } from '#apimachinery/meta/types';
import { type JsonObject, setOwn } from '#apimachinery/patch/own-property';

/** Gives an object the members of another one, in place: who holds it sees the change. */
export function replaceObject(target: KubeObject, source: KubeObject): void {
  if (target === source) return;
  for (const key of Object.keys(target)) Reflect.deleteProperty(target, key);
  for (const [key, value] of Object.entries(source)) setOwn(target as unknown as JsonObject, key, value);
}
