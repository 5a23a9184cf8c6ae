// Types that several modules of the explorer share, for scripts/check-javascript. Browsers do not read them. The JSON of
// the server's routes is in connection/routes.d.ts.

/** Which attention: of the encoder, of the decoder on the source, of the decoder on what it has written. */
type Stack = "encoder" | "cross" | "decoder";
type Side = "source" | "target";

type Trace = import("./picture/trace.js").Trace;
type Matrix = import("./picture/trace.js").Matrix;
type Scene = import("./picture/scene.js").Scene;
type Picture = ReturnType<typeof import("./picture/picture.js").createPicture>;
type Colours = ReturnType<typeof import("./picture/colours.js").readColours>;
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

type MetricName = keyof typeof import("./strings.js").strings.metrics;

/** A head with the numbers of metrics.js. */
interface MeasuredHead extends Head {
  metrics: Record<MetricName, number>;
}

/** The view, and stack, layer and head that are shown; head 0 is the mean over the heads. */
interface Place extends Head {
  view: ViewName;
}

/** How a token is written. */
interface Label {
  text: string;
  special: boolean;
  /** Whether it begins a word. */
  begins: boolean;
}

/** Queries, keys and values of one head, and what makes its scores, row by row. */
interface Detail {
  width: number;
  scale: number;
  /** The soft cap; 0: none. */
  cap: number;
  query: Float32Array;
  key: Float32Array;
  value: Float32Array;
  /** q k^T. */
  products: Float32Array;
  /** What relative positions add; null: nothing. */
  bias: Float32Array | null;
  /** 1 where the mask hides the key; null: nowhere. */
  hidden: Uint8Array | null;
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

/** A translation through other languages, and the models' chain. */
interface Passed extends PassedJson {
  chain: ChainJson;
}

/** What outcomes with some heads switched off are compared with: a translation or a class, or a vector. */
interface Original {
  made?: string;
  vector?: number[];
}

/** What a model makes of a text, in words, and the number by which that is compared (outcome.js). */
interface Outcome extends Original {
  text: string;
  number: number;
  trace?: Trace;
}

interface Point {
  x: number;
  y: number;
}

/** [red, green, blue] of a cell. */
type CellColour = (row: number, column: number) => number[];

/** The shapes of a picture (scene.js). */
type Shape = RectShape | TextShape | CurveShape | MapShape;

interface RectShape extends Point {
  kind: "rect";
  width: number;
  height: number;
  fill: string | null;
  stroke?: string;
  /** The width of the stroke. */
  line?: number;
  /** Of the corners. */
  radius?: number;
  opacity?: number;
}

interface TextShape extends Point {
  kind: "text";
  text: string;
  size: number;
  fill: string;
  align: "start" | "middle" | "end";
  bold?: boolean;
  /** Turned by 90 degrees to the left. */
  upward?: boolean;
  opacity?: number;
}

/** A line that leaves its ends along one axis. */
interface CurveShape {
  kind: "curve";
  from: Point;
  to: Point;
  along: "x" | "y";
  stroke: string;
  width: number;
  opacity?: number;
}

/** A matrix of weights in a box. */
interface MapShape extends Point {
  kind: "map";
  width: number;
  height: number;
  rows: number;
  columns: number;
  parts: CellColour;
  opacity?: number;
}

/** Where the lines (views/lines.js) have a token, and where they meet it. */
interface TokenBox extends Point {
  width: number;
  height: number;
  /** The width that its text may have; absent where all of it is shown. */
  room?: number;
  join: Point;
}

/** `along`: the axis of the lines. */
interface LinesLayout {
  along: "x" | "y";
  /** Of the letters. */
  size: number;
  width: number;
  height: number;
  keys: TokenBox[];
  queries: TokenBox[];
}

/** The small map of a head (views/all_heads.js). */
interface HeadBox extends MeasuredHead, Point {
  width: number;
  height: number;
}

interface HeadsLayout {
  boxes: HeadBox[];
  /** Where the name of each stack is. */
  titles: (Point & {stack: Stack})[];
  width: number;
  height: number;
}

/** A heat map of a comparison (views/compare.js). */
interface ComparedMap extends Point {
  trace: Trace;
  matrix: Matrix;
  layout: MapLayout;
  /** Whether the other map has as many queries and keys. */
  comparable: boolean;
}

/** A candidate in the picture of the search (views/search.js). */
interface CandidateBox extends CandidateJson, Point {
  /** The step, and its rank in it, from 0. */
  column: number;
  row: number;
  label: Label;
  /** Whether it is on the way of the best translation. */
  wins: boolean;
}

/** `byNode`: the candidate that a node was made for. */
interface TreeLayout {
  boxes: CandidateBox[];
  byNode: Map<number, CandidateBox>;
  boxWidth: number;
  width: number;
  height: number;
}

/** A token in the picture of views/why.js. */
interface WhyBox extends Point {
  side: Side;
  /** In its sentence, from 0. */
  index: number;
  label: Label;
  /** Null for the token that is explained, and those after it. */
  value: number | null;
  /** Of the value. */
  text: string;
  explained: boolean;
  width: number;
  height: number;
}

/** A cell of the maps of views/patching/: of /v1/patch, rows and columns from 0. */
interface PatchCell {
  stack: Stack;
  row: number;
  column: number;
  /** Null for a position without a counterpart. */
  effect: number | null;
}

/** `left`, `top`: of the cells. */
interface PatchMapLayout extends Point {
  stack: Stack;
  left: number;
  top: number;
  cellWidth: number;
  columns: Label[];
  /** Of the rows. */
  names: string[];
}

interface PatchLayout {
  maps: PatchMapLayout[];
  cellHeight: number;
  width: number;
  height: number;
}

/** The grid of views/layers.js. */
interface LayersLayout {
  left: number;
  top: number;
  cellWidth: number;
  cellHeight: number;
  columns: number;
  rows: number;
  width: number;
  height: number;
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

/** What a request for attention has instead of what the state says. */
interface AttendChanges {
  target?: string;
  /** Heads that are switched off, or whose output is multiplied. */
  ablate?: Head[];
  /** Whether queries, keys, values and scores are wanted. */
  details?: boolean;
}

/** The answer to a request: its result, or why there is none. */
type Answer<Result> = {result: Result; failure?: undefined} | {failure: string; result?: undefined};

/** What an element may contain. */
type Content = Node | string | null | undefined;

/** A row of buttons of which one is chosen (dom.js). */
interface Choice<Value> {
  element: HTMLElement;
  buttons: Map<Value, HTMLButtonElement>;
  show(chosen: Value): void;
}

/** Attributes and listeners (`onclick: f`) of an element. */
type Attributes = {
  [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void;
} & {[name: string]: unknown};

/** The traces of a page that is a file. */
interface TraceFile {
  traces: TraceJson[];
  words?: boolean;
  command?: string;
  /** Of heed attend, as in a shell: what the traces depend on besides model and text. */
  options?: string;
}

type ViewName = keyof typeof import("./strings.js").strings.views;

/** What a view that does not show attention has to take away. */
interface Takeaway {
  /** Of the files. */
  name: string;
  /** Null before there are any. */
  json: string | null;
  csv: string | null;
  /** Of what the command writes, where it draws no picture. */
  extension?: string;
  /** The subcommand of `heed` that makes the same, and its options. */
  command: string;
  /** What the command reads beside the sentence. */
  texts?: string[];
  options: string[];
}

/** A view of the page. */
interface View {
  element: HTMLElement;
  /** Null where the view has none to take away. */
  picture: {element: HTMLElement; scene: Scene | null; label: string} | null;
  /** What there is to take away beside the picture. Without it: the attention. */
  takeaway?(): Takeaway;
  /** Drops what is on its way: another view is shown, or another sentence is read. */
  leave?(): void;
  /** Shows the marked token. */
  mark(): void;
  /** Shows what the state says. */
  update(): void;
}

/** What the parts of the page know of each other. */
interface App {
  file: TraceFile | null;
  /** Where a model is opened from the disk, on a site. */
  modelOpener: HTMLElement | null;
  store: Store;
  marks: Marks;
  models(): Model[];
  colours(): Colours;
  /** The trace that is shown. Views are updated only while there is one. */
  trace(): Trace;
  /** What is shown instead where the sentence passes through several models. */
  passed(): Passed | null;
  /** Whether the trace of the state is still on its way, so that what is shown is that of an earlier one. */
  isWaiting(): boolean;
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
