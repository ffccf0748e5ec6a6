/** Whether HTTP takes a text as the value of a header: no line ends or other control characters, nothing beyond Latin-1. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
