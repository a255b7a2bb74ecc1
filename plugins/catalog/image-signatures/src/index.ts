import { contribute } from 'kubenest/sdk';
import { VerifyImageSignatures } from './verify-image-signatures.ts';

export default contribute(VerifyImageSignatures);
