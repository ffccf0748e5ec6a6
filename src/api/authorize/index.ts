export { claimsOf, isSameAuthorization, Verifier, verifyClaims } from './verifier.js';
