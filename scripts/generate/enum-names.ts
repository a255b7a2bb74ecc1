import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Modules of upstream's API types, by the prefix of their packages. */
const modules: Readonly<Record<string, string>> = {
  'k8s.io/api/': 'k8s.io/api@v0.36.3',
  'k8s.io/apimachinery/': 'k8s.io/apimachinery@v0.36.3',
  'k8s.io/apiextensions-apiserver/': 'k8s.io/apiextensions-apiserver@v0.36.3',
  'k8s.io/kube-aggregator/': 'k8s.io/kube-aggregator@v0.36.3',
};

/** True if the module cache has upstream's API types. */
export function hasTypeNames(cache: string): boolean {
  return Object.values(modules).every((module) => existsSync(join(cache, module)));
}

/**
 * Returns the names of the Go types of a package's fields, by `Container.imagePullPolicy`, without pointers and slices: `PullPolicy`. Types
 * of other packages are left out.
 */
export function fieldTypeNames(cache: string, goPackage: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const [prefix, module] = Object.entries(modules).find(([start]) => goPackage.startsWith(start)) ?? ['', ''];
  const file = join(cache, module, goPackage.slice(prefix.length), 'types.go');
  if (!module || !existsSync(file)) return names;
  let struct = '';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    struct = /^type (\w+) struct/.exec(line)?.[1] ?? struct;
    const [, type, field] = /^\t\w+\s+(?:\*|\[\])*([A-Z]\w*)\s+`[^`]*json:"([^",]+)/.exec(line) ?? [];
    if (type && field) names.set(`${struct}.${field}`, type);
  }
  return names;
}
