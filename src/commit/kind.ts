/** What stands behind the commit room's prefix in its keys. */
export const KIND = { state: 0x01, record: 0x02, reply: 0x03, expiry: 0x04 } as const;
