import type { KubeObject } from '#apimachinery/meta/types';

/** Converts objects between versions. Rejects with Error, whose message clients see. */
export interface Converter {
  /** Converts the objects to the version `groupVersion`, in order. Objects that already have it are returned as they are. */
  convert(objects: readonly KubeObject[], groupVersion: string): Promise<KubeObject[]>;
}

/** Conversion of definitions with the strategy None, which changes only apiVersion. Upstream: conversion/nop_converter.go. */
export function withVersion(object: KubeObject, groupVersion: string): KubeObject {
  return object.apiVersion === groupVersion ? object : { ...object, apiVersion: groupVersion };
}
