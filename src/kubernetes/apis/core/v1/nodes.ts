import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { compareBytes, describe, stringColumn, wide } from '#kubernetes/apis/columns';
import { nodeWarnings, validateNode, validateNodeUpdate } from '#kubernetes/apis/core/validation/node';
import { keepField, statusSubresource } from '#kubernetes/apis/strategy';
import type { Node } from '#kubernetes/schema/core_v1.gen';
import { convertNodeSpec } from './conversion.ts';
import { defaultNode } from './defaults.ts';

function statusText({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast((condition) => condition.type === 'Ready');
  const texts = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown'];
  if (spec?.unschedulable) texts.push('SchedulingDisabled');
  return texts.join(',');
}

/** Formats the roles in `node-role.kubernetes.io/<role>` labels and the value of `kubernetes.io/role`. */
function rolesText({ metadata }: Node): string {
  const prefix = 'node-role.kubernetes.io/';
  const roles = new Set<string>();
  for (const [label, value] of Object.entries(metadata.labels ?? {})) {
    if (label.startsWith(prefix) && label.length > prefix.length) roles.add(label.slice(prefix.length));
    else if (label === 'kubernetes.io/role' && value) roles.add(value);
  }
  return [...roles].sort(compareBytes).join(',') || '<none>';
}

function addressText({ status }: Node, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? '<none>';
}

export default defineResource<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  resource: 'nodes',
  namespaced: false,
  shortNames: ['no'],
  storageVersionHash: 'XwShjMxG9Fs=',
  schema: 'core_v1.Node',
  storagePath: 'minions',
  defaults(node) {
    defaultNode(node);
    if (node.spec !== undefined) convertNodeSpec(node.spec);
  },
  strategy: {
    resetFields: [['status']],
    prepareForCreate({ spec, status }) {
      delete spec?.configSource;
      delete status?.config;
    },
    prepareForUpdate(node, old) {
      keepField(node, old, 'status');
      if (old.spec?.configSource === undefined) delete node.spec?.configSource;
    },
    validate: validateNode,
    validateUpdate: (node, old, server) => validateNodeUpdate(node, old, server),
    warningsOnCreate: nodeWarnings,
    warningsOnUpdate: nodeWarnings,
  },
  selectableFields: { 'spec.unschedulable': ({ spec }) => String(spec?.unschedulable ?? false) },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: [
    nameColumn,
    stringColumn('Status', 'The status of the node', statusText),
    stringColumn('Roles', 'The roles of the node', rolesText),
    ageColumn,
    stringColumn('Version', describe('core_v1.NodeSystemInfo', 'kubeletVersion'), ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
    stringColumn('Internal-IP', describe('core_v1.NodeStatus', 'addresses'), (node) => addressText(node, 'InternalIP'), wide),
    stringColumn('External-IP', describe('core_v1.NodeStatus', 'addresses'), (node) => addressText(node, 'ExternalIP'), wide),
    stringColumn('OS-Image', describe('core_v1.NodeSystemInfo', 'osImage'), ({ status }) => status?.nodeInfo?.osImage || '<unknown>', wide),
    stringColumn(
      'Kernel-Version',
      describe('core_v1.NodeSystemInfo', 'kernelVersion'),
      ({ status }) => {
        const { kernelVersion, architecture } = status?.nodeInfo ?? {};
        return `${kernelVersion || '<unknown>'}${architecture ? ` (${architecture})` : ''}`;
      },
      wide,
    ),
    stringColumn(
      'Container-Runtime',
      describe('core_v1.NodeSystemInfo', 'containerRuntimeVersion'),
      ({ status }) => status?.nodeInfo?.containerRuntimeVersion || '<unknown>',
      wide,
    ),
  ],
  subresources: {
    proxy: {
      kind: 'NodeProxyOptions',
      schema: 'core_v1.NodeProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      connect: true,
    },
    status: statusSubresource({
      strategy: {
        prepareForUpdate(node, old) {
          if (old.status?.config === undefined) delete node.status?.config;
        },
        validateUpdate: (node, old, server) => validateNodeUpdate(node, old, server, true),
      },
    }),
  },
});
