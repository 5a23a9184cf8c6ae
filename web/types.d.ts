// Types that several modules of the explorer share, for scripts/check-javascript. Browsers do not read them.

/** Which attention: of the encoder, of the decoder on the source, of the decoder on what it has written. */
type Stack = "encoder" | "cross" | "decoder";
type Side = "source" | "target";

type Trace = import("./trace.js").Trace;
type Matrix = import("./trace.js").Matrix;
type Scene = import("./scene.js").Scene;
type Colours = ReturnType<typeof import("./colours.js").readColours>;
/** What the address says is shown. */
type State = typeof import("./state.js").kDefaults;
type Store = ReturnType<typeof import("./state.js").createStore>;
type Marks = ReturnType<typeof import("./state.js").createMarks>;

/** A token of a sentence, counted from 0; -1 is the token before the first. */
interface Spot {
  side: Side;
  index: number;
  /** The key that is pointed at together with a query. */
  other?: Spot;
}

/** A head whose output is multiplied by `scale`, or that gives nothing; layer and head count from 1. */
interface Head {
  stack: Stack;
  layer: number;
  head: number;
  scale?: number;
}

/** A head with the numbers of metrics.js. */
interface MeasuredHead extends Head {
  metrics: Record<string, number>;
}

/** Stack, layer and head that are shown; head 0 is the mean over the heads. */
type Place = Head;

/** How a token is written. */
interface Label {
  text: string;
  special: boolean;
  /** Whether it begins a word. */
  begins: boolean;
}

/** Queries, keys, values and scores of one head, row by row. */
interface Detail {
  width: number;
  scale: number;
  query: Float32Array;
  key: Float32Array;
  value: Float32Array;
  scores: Float32Array;
}

/** A model of the server, as listModels() tells it. Texts are empty where there is nothing to say. */
interface Model {
  id: string;
  pair: string;
  /** Its languages. */
  sources: string[];
  targets: string[];
  /** Those that it takes where a request names none. */
  source: string;
  target: string;
  task: string;
  type: string;
  /** The directory as the server was told it; empty for a bundled pair. */
  path: string;
  precisions: string[];
}

/** What a model makes of a text, and the number by which that is compared (outcome.js). */
interface Outcome {
  text: string;
  of: any;
  number: number;
  trace?: Trace;
}

/** Where a heat map has its labels and cells (views/one_head.js). */
interface MapLayout {
  left: number;
  top: number;
  cell: number;
  size: number;
  flat: boolean;
  width: number;
  height: number;
}

/** The answer to a request: its result, or why there is none. */
type Answer<Result> = {result: Result; failure?: undefined} | {failure: string; result?: undefined};

/** What an element may contain. */
type Content = Node | string | null | undefined;

/** The traces of a page that is a file. */
interface TraceFile {
  traces: any[];
  words?: boolean;
  command?: string;
}

/** A view of the page. */
interface View {
  element: HTMLElement;
  /** Null where the view has none to take away. */
  picture: {scene: Scene | null} | null;
  /** Shows the marked token. */
  mark(): void;
  /** Shows what the state says. */
  update(): void;
}

/** What the parts of the page know of each other. */
interface App {
  file: TraceFile | null;
  store: Store;
  marks: Marks;
  models(): Model[];
  colours(): Colours;
  /** The trace that is shown. Views are updated only while there is one. */
  trace(): Trace;
  shown(): Trace;
  pinned(): Spot | null;
  pin(spot: Spot | null): void;
  place(): Place;
  view(): View | null;
  suits(view: string): boolean;
  askAgain(): void;
  pictureChanged(): void;
  lead(text: string): void;
  describePicture(what?: string): string;
  describeQuery(matrix: Matrix, query: number): string;
  describeKey(matrix: Matrix, key: number): string;
  moveMark(event: KeyboardEvent): void;
  needsModel(why?: string): HTMLElement;
}

// Newer than the types of TypeScript 4.8.
interface Element {
  checkVisibility(): boolean;
}
interface CanvasRenderingContext2D {
  roundRect(x: number, y: number, width: number, height: number, radius: number): void;
}
