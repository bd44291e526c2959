// What Oclgrind sees of kernels, warp by warp: sectors, bank conflicts, divergences, and the arrays in the end.
//
// Reads programs in OpenCL C and launches of their kernels from standard input, and prints a line a fact. Every access
// comes from Oclgrind's interpreter with its work-item, address and size. Lanes are lined up by marks: stores to one
// address of their own, which say in which turn of which loop a work-item is, and how it decides a test. Accesses of
// one instruction in the same turns of the same loops are one access of the warp.
//
//   emulator [--sector BYTES] [--warp LANES] [--order yx] [--late] < launches
//
// The options break it on purpose, so that a test can see that the comparison notices.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <oclgrind/Context.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/Program.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

namespace oclgrind {
// Kernel.h wants LLVM's headers; this is all that is used of it.
class Kernel {
public:
  void setArgument(unsigned int index, TypedValue value);
};
} // namespace oclgrind

using namespace oclgrind;
typedef std::vector<unsigned char> Bytes;

static size_t sector = 32, warpSize = 32, banks = 32;
static bool swapped = false, late = false;

enum Op { TEST = 1, TURN, LEAVE, SWITCH, SECTION, END, BEFORE, AFTER, WHOLE, FALLEN = 100 };

// A place in the program's turns: the one around it, a loop (or a call), and its turn.
struct Node { int parent, loop, turn; };

struct Lane { int node = 0; std::map<int, int> open; };

struct Group { std::vector<std::pair<size_t, size_t>> bytes; std::set<int> lanes; };

// What the lanes of a warp did at one test.
struct Votes { std::set<long> values; int before = 0, after = 0; };

struct Costs { long sectors = 0, conflicts = 0, divergences = 0, more = 0; };

class Counter : public Plugin {
public:
  size_t marks = 0;
  std::vector<Costs> warps;
  std::string problem;

  explicit Counter(const Context *context) : Plugin(context) { begin(); }

  void begin() { nodes.assign(1, {-1, -1, 0}); known.clear(); warps.clear(); problem.clear(); clear(); }

  bool isThreadSafe() const override { return false; }

  void log(MessageType type, const char *message) override {
    if (type != DEBUG && problem.empty()) problem = message;
  }

  void memoryLoad(const Memory *memory, const WorkItem *item, size_t address, size_t size) override {
    access(memory, item, address, size, 0);
  }

  void memoryStore(const Memory *memory, const WorkItem *item, size_t address, size_t size, const uint8_t *data) override {
    if (marks && memory->getAddressSpace() == AddrSpaceGlobal && address == marks) {
      uint64_t code;
      std::memcpy(&code, data, sizeof code);
      mark(item, Op(code >> 56), code >> 32 & 0xffffff, int32_t(code));
      return;
    }
    access(memory, item, address, size, 1);
  }

  void memoryAtomicLoad(const Memory *memory, const WorkItem *item, AtomicOp, size_t address, size_t size) override {
    access(memory, item, address, size, 2);
  }

  void memoryAtomicStore(const Memory *memory, const WorkItem *item, AtomicOp, size_t address, size_t size) override {
    access(memory, item, address, size, 3);
  }

  void workGroupComplete(const WorkGroup *group) override {
    Size3 size = group->getGroupSize();
    std::vector<Costs> here((size.x * size.y * size.z + warpSize - 1) / warpSize);
    for (auto &[key, g] : groups) {
      Costs &c = here[std::get<0>(key)];
      if (std::get<4>(key) == AddrSpaceGlobal) {
        std::set<size_t> touched;
        for (auto [address, n] : g.bytes)
          for (size_t s = address / sector; s <= (address + n - 1) / sector; s++) touched.insert(s);
        c.sectors += touched.size();
      } else {
        std::vector<std::set<size_t>> words(banks);
        for (auto [address, n] : g.bytes)
          for (size_t w = address / 4; w <= (address + n - 1) / 4; w++) words[w % banks].insert(w);
        size_t most = 0;
        for (auto &bank : words) most = std::max(most, bank.size());
        c.conflicts += most - 1;
      }
    }
    for (auto &[key, v] : votes) {
      Costs &c = here[std::get<0>(key)];
      int op = std::get<1>(key);
      if (op == TEST || op == SWITCH) c.divergences += v.values.size() - 1;
      if (op == WHOLE) c.more += v.values.size() - 1;
      if (op >= FALLEN) c.more++;
      if (op == BEFORE) c.more += v.after > 0 && v.after < v.before;
    }
    for (auto &[key, n] : turns) { // lanes that leave a loop by a jump may part from the others at its next test
      auto next = turns.find({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key) + 1});
      if (next != turns.end() && next->second < n) here[std::get<0>(key)].more++;
    }
    warps.insert(warps.end(), here.begin(), here.end());
    clear();
  }

private:
  std::vector<Node> nodes;
  std::map<std::tuple<int, int, int>, int> known;
  std::unordered_map<const WorkItem *, Lane> lanes;
  std::map<std::tuple<int, int, const void *, int, unsigned>, Group> groups;
  std::map<std::tuple<int, int, int, int>, Votes> votes;
  std::map<std::tuple<int, int, int, int>, int> turns;

  void clear() { lanes.clear(); groups.clear(); votes.clear(); turns.clear(); }

  int node(int parent, int loop, int turn) {
    auto [at, fresh] = known.insert({{parent, loop, turn}, int(nodes.size())});
    if (fresh) nodes.push_back({parent, loop, turn});
    return at->second;
  }

  static int linear(const WorkItem *item) {
    Size3 id = item->getLocalID(), size = item->getWorkGroup()->getGroupSize();
    if (swapped) return id.y + size.y * (id.x + size.x * id.z);
    return id.x + size.x * (id.y + size.y * id.z);
  }

  void access(const Memory *memory, const WorkItem *item, size_t address, size_t size, int kind) {
    unsigned space = memory->getAddressSpace();
    if (space != AddrSpaceGlobal && space != AddrSpaceLocal) return;
    int id = linear(item);
    Group &g = groups[{id / int(warpSize), lanes[item].node, item->getCurrentInstruction(), kind, space}];
    if (!g.lanes.insert(id).second && problem.empty()) problem = "an access that is not lined up";
    g.bytes.push_back({address, size});
  }

  void mark(const WorkItem *item, Op op, int id, int value) {
    Lane &lane = lanes[item];
    int warp = linear(item) / int(warpSize), at = lane.node;
    switch (op) {
    case TEST:
      if (late) lane.node = node(at, -2 - 2 * id - (value != 0), 0);
      votes[{warp, TEST, at, id}].values.insert(value);
      break;
    case WHOLE: votes[{warp, WHOLE, at, id}].values.insert(value); break;
    case TURN: {
      while (late && nodes[at].loop < -1) at = nodes[at].parent;
      Node n = nodes[at];
      bool again = n.loop == id;
      lane.node = node(again ? n.parent : at, id, again ? n.turn + 1 : 1);
      turns[{warp, nodes[lane.node].parent, id, nodes[lane.node].turn}]++;
      break;
    }
    case LEAVE:
      for (int up = at; up > 0; up = nodes[up].parent)
        if (nodes[up].loop == id) { lane.node = nodes[up].parent; break; }
      break;
    case SWITCH: lane.open[id] = 1; break;
    case SECTION:
    case END: {
      auto open = lane.open.find(id);
      if (open == lane.open.end()) {
        if (op == SECTION) votes[{warp, FALLEN + value, at, id}]; // who is in it is asked anew
        break;
      }
      lane.open.erase(open);
      votes[{warp, SWITCH, at, id}].values.insert(op == END ? -1 : value);
      break;
    }
    case BEFORE: votes[{warp, BEFORE, at, id}].before++; break;
    case AFTER: votes[{warp, BEFORE, at, id}].after++; break;
    case FALLEN: break;
    }
  }
};

static Bytes unhex(const std::string &text) {
  Bytes bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = std::stoi(text.substr(2 * i, 2), nullptr, 16);
  return bytes;
}

static std::string hex(const Bytes &bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char b : bytes) { text += digits[b >> 4]; text += digits[b & 15]; }
  return text;
}

static void launch(const Context &context, Counter &counter, Program &program, std::istringstream &head) {
  std::string name, line;
  Size3 grid, block;
  int count;
  head >> name >> grid.x >> grid.y >> grid.z >> block.x >> block.y >> block.z >> count;
  Kernel *kernel = program.createKernel(name);
  Memory *memory = context.getGlobalMemory();
  std::vector<std::pair<size_t, size_t>> buffers;
  counter.begin();
  for (int i = 0; i < count; i++) {
    std::getline(std::cin, line);
    Bytes data = unhex(line.substr(2));
    TypedValue value;
    if (line[0] != 'S') {
      size_t address = memory->allocateBuffer(data.size(), 0, data.data());
      buffers.push_back({address, data.size()});
      if (line[0] == 'M') counter.marks = address;
      data.assign((unsigned char *)&address, (unsigned char *)(&address + 1));
    }
    value.size = data.size();
    value.num = 1;
    value.data = data.data();
    if (kernel) kernel->setArgument(i, value);
  }
  std::cout << "K " << name << "\n";
  try {
    if (!kernel) throw std::runtime_error("there is no such kernel");
    Size3 all(grid.x * block.x, grid.y * block.y, grid.z * block.z);
    KernelInvocation::run(&context, kernel, 3, Size3(0, 0, 0), all, block);
  } catch (std::exception &e) {
    if (counter.problem.empty()) counter.problem = e.what();
  } catch (...) { // Oclgrind's own errors keep their base class to themselves
    if (counter.problem.empty()) counter.problem = "Oclgrind gives up";
  }
  std::replace(counter.problem.begin(), counter.problem.end(), '\n', ' ');
  if (!counter.problem.empty()) std::cout << "E " << counter.problem << "\n";
  for (const Costs &c : counter.warps)
    std::cout << "W " << c.sectors << " " << c.conflicts << " " << c.divergences << " " << c.more << "\n";
  counter.marks = 0;
  for (auto [address, size] : buffers) {
    Bytes data(size);
    memory->load(data.data(), address, size);
    std::cout << "B " << hex(data) << "\n";
    memory->deallocateBuffer(address);
  }
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    std::string option = argv[i];
    if (option == "--sector") sector = std::stoi(argv[++i]);
    if (option == "--warp") warpSize = std::stoi(argv[++i]);
    if (option == "--order") swapped = std::string(argv[++i]) == "yx";
    if (option == "--late") late = true;
  }
  setenv("OCLGRIND_NUM_THREADS", "1", 1);
  Context context;
  Counter counter(&context);
  context.registerPlugin(&counter);
  Program *program = nullptr;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream head(line);
    std::string what;
    head >> what;
    if (what == "P") {
      size_t size;
      head >> size;
      std::string source(size, ' ');
      std::cin.read(&source[0], size);
      std::getline(std::cin, line);
      delete program;
      program = new Program(&context, source);
      if (!program->build(Program::BUILD, "-cl-opt-disable -cl-std=CL1.2"))
        std::cout << "F " << program->getBuildLog() << std::endl;
    } else if (what == "K" && program) {
      launch(context, counter, *program, head);
    }
  }
}
