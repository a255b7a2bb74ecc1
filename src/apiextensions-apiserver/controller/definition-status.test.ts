import { describe, expect, it } from 'vitest';
import { atOnce } from '#apimachinery/runtime/steps';
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { definitionStatus, nonStructuralCondition } from './definition-status.ts';

const now = '2026-01-01T00:00:00Z';
const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };

function crd(name: string, requested: CustomResourceDefinitionNames, accepted?: CustomResourceDefinitionNames): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}.test.dev` },
    spec: { group: 'test.dev', names: requested, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] },
    status: { storedVersions: ['v1'], ...(accepted && { acceptedNames: accepted }) },
  };
}

/** Formats each condition as `type=status reason: message`. */
const conditionsOf = (one: CustomResourceDefinition, ...others: CustomResourceDefinition[]): string[] =>
  (definitionStatus(one, [one, ...others], atOnce(nonStructuralCondition(one)), now)?.conditions ?? []).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );

describe('definitionStatus', () => {
  it('accepts names that are not in use', () => {
    const widgets = crd('widgets', names);
    expect(definitionStatus(widgets, [widgets], undefined, now)).toMatchObject({ acceptedNames: names, storedVersions: ['v1'] });
    expect(conditionsOf(widgets)).toEqual([
      'NamesAccepted=True NoConflicts: no conflicts found',
      'Established=True InitialNamesAccepted: the initial names have been accepted',
    ]);
  });

  it('keeps a correct status', () => {
    const widgets = crd('widgets', names);
    const status = definitionStatus(widgets, [widgets], undefined, now)!;
    expect(definitionStatus({ ...widgets, status }, [], undefined, '2030-01-01T00:00:00Z')).toBeUndefined();
  });

  it.each<[string, CustomResourceDefinitionNames, string]>([
    ['plural', { ...names, kind: 'X', listKind: 'XList', singular: 'x' }, 'PluralConflict: "widgets" is already in use'],
    ['singular', { ...names, plural: 'x', kind: 'X', listKind: 'XList' }, 'SingularConflict: "widget" is already in use'],
    [
      'short name',
      { plural: 'xs', singular: 'x', kind: 'X', listKind: 'XList', shortNames: ['widget'] },
      'ShortNamesConflict: "widget" is already in use',
    ],
    ['kind', { ...names, plural: 'xs', singular: 'x', listKind: 'XList' }, 'KindConflict: "Widget" is already in use'],
    ['list kind', { ...names, plural: 'xs', singular: 'x', kind: 'X' }, 'ListKindConflict: "WidgetList" is already in use'],
  ])('rejects a %s that another definition of the group has', (_, requested, conflict) => {
    expect(conditionsOf(crd('others', requested), crd('widgets', names, names))).toEqual([
      `NamesAccepted=False ${conflict}`,
      'Established=False NotAccepted: not all names are accepted',
    ]);
  });

  it('requires no approval of unprotected groups', () => {
    const widgets = crd('widgets', names);
    const community = { ...widgets, spec: { ...widgets.spec, group: 'test.k8s.io' } };
    expect(conditionsOf(community)).toContain(
      'KubernetesAPIApprovalPolicyConformant=False MissingAnnotation: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    );
    const approved = {
      ...community,
      metadata: { ...community.metadata, annotations: { 'api-approved.kubernetes.io': 'https://example.com/1' } },
    };
    expect(conditionsOf(approved)).toContain(
      'KubernetesAPIApprovalPolicyConformant=True ApprovedAnnotation: approved in https://example.com/1',
    );
    expect(conditionsOf(widgets).join()).not.toContain('KubernetesAPIApprovalPolicyConformant');
  });

  it('reports why a schema is not structural', () => {
    const widgets = crd('widgets', names);
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }];
    expect(conditionsOf({ ...widgets, spec: { ...widgets.spec, versions } })).toContain(
      'NonStructuralSchema=True Violations: spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
    );
  });
});
