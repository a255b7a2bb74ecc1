import { AdmissionPlugin, type Attributes, deny } from 'kubenest/sdk';

@AdmissionPlugin({
  name: 'Frozen',
  // mistake: the operation is CREATE
  match: [{ resources: ['configmaps'], operations: ['CREATED'] }],
})
export class Frozen {
  validate(request: Attributes): void {
    deny(request, 'frozen');
  }
}
