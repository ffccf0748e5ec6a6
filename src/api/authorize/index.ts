export { claimsOf, Verifier, verifyClaims } from './verifier.js';
