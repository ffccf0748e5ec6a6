/** What one look at the installation, the app or the store found. */
export interface Finding {
  readonly check: string;
  readonly status: 'good' | 'warning' | 'bad';
  readonly message: string;
  readonly fix?: string;
}

export const good = (check: string, message: string): Finding => ({ check, status: 'good', message });
export const warning = (check: string, message: string, fix?: string): Finding => {
  return { check, status: 'warning', message, fix };
};
export const bad = (check: string, message: string, fix?: string): Finding => ({ check, status: 'bad', message, fix });
