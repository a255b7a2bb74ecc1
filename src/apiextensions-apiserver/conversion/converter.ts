import type { KubeObject } from '#apimachinery/meta/types';

/** Turns objects of one version into those of another. Rejects with Error, whose message clients see. */
export interface Converter {
  /** The objects in their order, of the version `groupVersion`; those that are of it already are the same. */
  convert(objects: readonly KubeObject[], groupVersion: string): Promise<KubeObject[]>;
}

/** Of definitions without conversion: only the version's name changes. Upstream: conversion/nop_converter.go. */
export function withVersion(object: KubeObject, groupVersion: string): KubeObject {
  return object.apiVersion === groupVersion ? object : { ...object, apiVersion: groupVersion };
}
