import type { GroupVersion, KubeObject } from '#apimachinery/meta/types';
import { groupVersionString } from '#apimachinery/meta/types';
import type { Deprecation } from './deprecation.ts';
import type { ResourceDefinition, VersionConversion } from './resource-definition.ts';

/** Between versions that have the same fields. */
export function sameFields(version: GroupVersion, stored: GroupVersion): VersionConversion {
  const own = groupVersionString(version);
  const other = groupVersionString(stored);
  return {
    toStorage: (object) => ({ ...object, apiVersion: other }),
    fromStorage: (object) => ({ ...object, apiVersion: own }),
  };
}

/** What is of a version alone. */
export interface VersionTraits<T extends KubeObject> extends Deprecation {
  /** Of versions whose fields are others than those of the stored one. */
  readonly conversion?: VersionConversion;
  defaults?(object: T): void;
  unsupportedField?(label: string): string;
}

/**
 * The resource of a definition in another version of its group: stored where and as the definition's objects are, with the
 * type of the same name in the tables of the version, and with the same strategy, which sees the stored version.
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
