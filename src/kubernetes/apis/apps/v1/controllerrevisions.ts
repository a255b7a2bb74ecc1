import { parseGroupVersion } from '#apimachinery/meta/types';
import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { validateControllerRevision, validateControllerRevisionUpdate } from '#kubernetes/apis/apps/validation/controller-revision';
import { describe, stringColumn } from '#kubernetes/apis/columns';
import type { ControllerRevision } from '#kubernetes/schema/apps_v1.gen';

/** Returns the controlling owner as `deployment.apps/web`. */
function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller);
  if (!owner) return '<none>';
  const { group } = parseGroupVersion(owner.apiVersion);
  const kind = group ? `${owner.kind}.${group}` : owner.kind;
  return kind ? `${kind.toLowerCase()}/${owner.name}` : owner.name;
}

export default defineResource<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  resource: 'controllerrevisions',
  storageVersionHash: '85nkx63pcBU=',
  schema: 'apps_v1.ControllerRevision',
  storagePath: 'controllerrevisions',
  strategy: { validate: validateControllerRevision, validateUpdate: validateControllerRevisionUpdate },
  columns: [
    nameColumn,
    stringColumn('Controller', 'Controller of the object', controllerText),
    stringColumn('Revision', describe('apps_v1.ControllerRevision', 'revision'), (revision) => revision.revision ?? 0),
    ageColumn,
  ],
});
