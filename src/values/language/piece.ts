/** UTF-16 units of a text that are taken apart at once: a few milliseconds. */
export const PIECE = 1_024;

// ASCII that joins neither letters nor digits and that no rule of upper and lower case looks through, and the marks
// that end phrases and sentences where no blanks stand between words
const CUTS = new Set([...' \t\n\r!"#$%&()*+-/<=>?@[\\]{|}~、。'].map((mark) => mark.charCodeAt(0)));

/** Marks that join digits only. */
const DIGIT_JOINTS = new Set([...',;'].map((mark) => mark.charCodeAt(0)));

/**
 * A text in pieces of about PIECE units, longer where it cannot be cut. Normal form, lower case and words of the pieces
 * are those of the whole, for no cut goes through anything that depends on what stands on its other side.
 */
export function* piecesOf(text: string): Generator<string, void> {
  for (let from = 0; from < text.length; ) {
    let to = from + PIECE;
    while (to < text.length && !isCut(text, to)) to++;
    yield text.slice(from, to);
    from = to;
  }
}

function isCut(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return CUTS.has(unit) || (DIGIT_JOINTS.has(unit) && isAsciiLetter(text.charCodeAt(at - 1)));
}

function isAsciiLetter(unit: number): boolean {
  return (unit | 32) >= 0x61 && (unit | 32) <= 0x7a;
}
