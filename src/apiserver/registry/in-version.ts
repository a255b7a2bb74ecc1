import type { GroupVersion, KubeObject } from '#apimachinery/meta/types';
import { groupVersionString } from '#apimachinery/meta/types';
import type { Deprecation } from './deprecation.ts';
import type { ResourceDefinition, VersionConversion } from './resource-definition.ts';

/** Returns the conversion between versions with the same fields. */
export function sameFields(version: GroupVersion, stored: GroupVersion): VersionConversion {
  const own = groupVersionString(version);
  const other = groupVersionString(stored);
  return {
    toStorage: (object) => ({ ...object, apiVersion: other }),
    fromStorage: (object) => ({ ...object, apiVersion: own }),
  };
}

/** Properties specific to a version. */
export interface VersionTraits<T extends KubeObject> extends Deprecation {
  /** Conversion for versions whose fields differ from the stored version's. */
  readonly conversion?: VersionConversion;
  defaults?(object: T): void;
  unsupportedField?(label: string): string;
}

/**
 * Returns the definition of a resource in another version of its group: stored under the same keys in the same version, with
 * the type of the same name in the version's tables, and with the same strategy, which receives the stored version.
 */
export function inVersion<T extends KubeObject>(
  definition: ResourceDefinition<T>,
  version: string,
  { conversion, ...traits }: VersionTraits<T> = {},
): ResourceDefinition<T> {
  const stored = definition.storageVersion?.version ?? { group: definition.group, version: definition.version };
  const own = { group: definition.group, version };
  return {
    ...definition,
    deprecationWarning: undefined,
    removedRelease: undefined,
    ...traits,
    version,
    schema: definition.schema.replace(/_[^_.]*\./, `_${version}.`),
    storageVersion:
      stored.version === version
        ? undefined
        : {
            version: stored,
            schema: definition.storageVersion?.schema ?? definition.schema,
            conversion: conversion ?? sameFields(own, stored),
          },
  };
}
