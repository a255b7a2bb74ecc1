import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findGoModule } from './go-modules.ts';

/** A file with one definition from an operator's project. */
export interface DefinitionFile {
  readonly name: string;
  readonly path: string;
}

const places = [
  ['github.com/argoproj/argo-cd/v3@v3.2.0', 'manifests/crds'],
  ['github.com/cert-manager/cert-manager@v1.19.1', 'deploy/crds'],
  ['github.com/prometheus-operator/prometheus-operator@v0.85.0', 'example/prometheus-operator-crd'],
  ['sigs.k8s.io/gateway-api@v1.4.1', 'config/crd/experimental'],
] as const;

/** Returns the definitions of projects in Go's module cache; `go mod download` of these versions provides them. */
export function operatorDefinitions(): DefinitionFile[] {
  return places.flatMap(([module, folder]) => {
    const root = findGoModule(module);
    if (root === undefined) return [];
    return readdirSync(join(root, folder))
      .map((file) => join(root, folder, file))
      .filter((path) => path.endsWith('.yaml') && /^kind: CustomResourceDefinition$/m.test(readFileSync(path, 'utf8')))
      .map((path) => ({ name: basename(path, '.yaml'), path }));
  });
}
