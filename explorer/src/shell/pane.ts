/** What the service says of itself. */
export interface Info {
  readonly version: string;
  readonly dgraph: boolean;
  readonly typePredicate: string;
  readonly agents: boolean;
  readonly connections: boolean;
}

/** What each pane is given. */
export interface PaneProps {
  /** false while another pane is shown: nothing is asked then */
  readonly active: boolean;
  /** what stands behind the pane's name in the address */
  readonly rest: string;
  readonly info: Info | undefined;
}
