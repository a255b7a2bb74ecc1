import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';

/** Schema of a label selector (metav1.LabelSelector), without a description. */
export const labelSelectorSchema = {
  type: 'object',
  properties: {
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
    matchExpressions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { type: 'string' },
          operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  },
} satisfies JsonSchemaProps;
