import { contribute } from 'kubenest/sdk';
import { productionRules } from './production-rules.ts';

export default contribute(productionRules);
