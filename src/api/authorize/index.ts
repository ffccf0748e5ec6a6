export { type Claims, claimsOf, type Headers, Verifier, verifyClaims } from './verifier.js';
