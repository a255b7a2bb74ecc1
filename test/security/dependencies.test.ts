import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: true }>>;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
}

it('no installed package runs an install script', () => {
  const { packages } = read('package-lock.json') as Lock;
  expect(Object.keys(packages).length).toBeGreaterThan(100);
  expect(Object.keys(packages).filter((name) => packages[name]?.hasInstallScript)).toEqual([]);
});

it('dependencies have exact versions', () => {
  const { dependencies, devDependencies } = read('package.json') as Manifest;
  const all = Object.entries({ ...dependencies, ...devDependencies });
  expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});
