import { defineResource, type KubeObject } from 'kubenest/sdk';

interface Widget extends KubeObject {
  spec: { size: number };
}

export const widgets = defineResource<Widget>({
  kind: 'Widget',
  resource: 'widgets',
  versions: [{ name: 'v1', schema: { type: 'object' } }],
  strategy: {
    // not found: a function that returns a promise is assignable to one without a result; the server refuses the request
    async prepareForCreate(widget) {
      widget.spec.size = await Promise.resolve(1);
    },
  },
});
