import type { KubeObject } from '#apimachinery/meta/types';
import { type Steps, workOn } from '#apimachinery/runtime/steps';
import type { ResourceDefinition } from './resource-definition.ts';

type Defaulted = Pick<ResourceDefinition, 'defaults' | 'defaultsSteps'>;

/** Sets the defaults of a resource in a decoded object, in place; yields to the event loop if they may take long. */
export function* defaultsOf(definition: Defaulted, object: KubeObject): Steps<void> {
  if (definition.defaultsSteps) yield* definition.defaultsSteps(object);
  else definition.defaults?.(object);
}

/** Sets the defaults of a resource in an object from a body of this size. If it is large and they may take long, yields to the event loop. */
export function applyDefaults(definition: Defaulted, object: KubeObject, bytes: number): void | Promise<void> {
  if (definition.defaultsSteps) return workOn(bytes, definition.defaultsSteps(object));
  definition.defaults?.(object);
}
