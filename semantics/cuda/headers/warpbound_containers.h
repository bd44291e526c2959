/* What host code keeps its data in, as far as launches depend on it: types without bodies, so that clang understands
   `k<<<g, b>>>(v.data(), v.size())`. Kernels cannot have them: their sizes are those of a library that is not here. */
#pragma push_macro("BOTH")
#pragma push_macro("ORDERED")
#pragma push_macro("SEQUENCE")
extern "C++" {
namespace std {
template <class...> class vector; template <class...> class deque; template <class...> class list;
template <class...> class valarray; template <class...> class basic_string; template <class...> class unique_ptr;
template <class...> class shared_ptr;
typedef basic_string<char> string; typedef basic_string<wchar_t> wstring;
#define BOTH(RETURNS, ...) RETURNS __VA_ARGS__; const RETURNS __VA_ARGS__ const;
#define ORDERED(...) \
  friend bool operator==(const __VA_ARGS__ &, const __VA_ARGS__ &); \
  friend bool operator!=(const __VA_ARGS__ &, const __VA_ARGS__ &); \
  friend bool operator<(const __VA_ARGS__ &, const __VA_ARGS__ &);
/* A sequence of _Tp, in memory without gaps. */
#define SEQUENCE(SELF) \
  typedef _Tp value_type; typedef _Tp *pointer, *iterator; typedef const _Tp *const_pointer, *const_iterator; \
  typedef _Tp &reference; typedef const _Tp &const_reference; typedef size_t size_type; typedef ptrdiff_t difference_type; \
  SELF(); SELF(const SELF &); SELF(SELF &&); explicit SELF(size_t); SELF(size_t, const _Tp &); \
  SELF(initializer_list<_Tp>); template <class _It> SELF(_It, _It); ~SELF(); \
  SELF &operator=(const SELF &); SELF &operator=(SELF &&); SELF &operator=(initializer_list<_Tp>); \
  BOTH(_Tp &, operator[](size_t)) BOTH(_Tp &, at(size_t)) BOTH(_Tp &, front()) BOTH(_Tp &, back()) BOTH(_Tp *, data()) \
  BOTH(_Tp *, begin()) BOTH(_Tp *, end()) const _Tp *cbegin() const, *cend() const; \
  size_t size() const, capacity() const, max_size() const, length() const; bool empty() const; \
  void resize(size_t); void resize(size_t, const _Tp &); void reserve(size_t); void clear(); void shrink_to_fit(); \
  void push_back(const _Tp &); void pop_back(); void push_front(const _Tp &); void pop_front(); void swap(SELF &); \
  template <class... _Ap> _Tp &emplace_back(_Ap &&...); template <class... _Ap> void assign(_Ap &&...); \
  void assign(initializer_list<_Tp>); template <class... _Ap> _Tp *insert(const _Tp *, _Ap &&...); \
  _Tp *erase(const _Tp *); _Tp *erase(const _Tp *, const _Tp *); ORDERED(SELF)
template <class _Tp, class... _Rest> class vector<_Tp, _Rest...> { void *__w[3]; public: SEQUENCE(vector) };
template <class _Tp, class... _Rest> class deque<_Tp, _Rest...> { void *__w[10]; public: SEQUENCE(deque) };
template <class _Tp, class... _Rest> class list<_Tp, _Rest...> { void *__w[3]; public: SEQUENCE(list) };
template <class _Tp, class... _Rest> class valarray<_Tp, _Rest...> { void *__w[2]; public: SEQUENCE(valarray) };
template <class _Tp, class... _Rest> class basic_string<_Tp, _Rest...> {
  void *__w[4];
public:
  SEQUENCE(basic_string)
  static const size_t npos = -1;
  basic_string(const _Tp *); basic_string(const _Tp *, size_t); basic_string(size_t, _Tp);
  const _Tp *c_str() const; basic_string &operator=(const _Tp *); basic_string &operator+=(const basic_string &);
  basic_string &operator+=(const _Tp *); basic_string &operator+=(_Tp); basic_string substr(size_t = 0, size_t = npos) const;
  template <class... _Ap> basic_string &append(_Ap &&...); template <class... _Ap> basic_string &replace(_Ap &&...);
  template <class... _Ap> size_t find(_Ap &&...) const; template <class... _Ap> size_t rfind(_Ap &&...) const;
  template <class... _Ap> size_t find_last_of(_Ap &&...) const; template <class... _Ap> size_t find_first_of(_Ap &&...) const;
  template <class... _Ap> int compare(_Ap &&...) const;
  friend basic_string operator+(const basic_string &, const basic_string &);
};
template <class _Tp, class... _Rest> class unique_ptr<_Tp, _Rest...> {
  void *__w;
public:
  typedef typename remove_extent<_Tp>::type element_type;
  unique_ptr(); unique_ptr(decltype(nullptr)); explicit unique_ptr(element_type *);
  template <class... _Ap> unique_ptr(element_type *, _Ap &&...); unique_ptr(unique_ptr &&); ~unique_ptr();
  unique_ptr &operator=(unique_ptr &&); unique_ptr &operator=(decltype(nullptr)); element_type *get() const, *release();
  void reset(element_type * = nullptr); element_type &operator*() const, &operator[](size_t) const;
  element_type *operator->() const; explicit operator bool() const;
};
template <class _Tp, class... _Rest> class shared_ptr<_Tp, _Rest...> {
  void *__w[2];
public:
  typedef typename remove_extent<_Tp>::type element_type;
  shared_ptr(); shared_ptr(decltype(nullptr)); template <class... _Ap> explicit shared_ptr(element_type *, _Ap &&...);
  shared_ptr(const shared_ptr &); shared_ptr(shared_ptr &&); ~shared_ptr(); shared_ptr &operator=(const shared_ptr &);
  shared_ptr &operator=(shared_ptr &&); element_type *get() const; void reset(element_type * = nullptr);
  element_type &operator*() const, &operator[](size_t) const; element_type *operator->() const;
  explicit operator bool() const; long use_count() const;
};
template <class _Tp, class... _Ap> unique_ptr<_Tp> make_unique(_Ap &&...);
template <class _Tp, class... _Ap> shared_ptr<_Tp> make_shared(_Ap &&...);
int stoi(const string &, size_t * = nullptr, int = 10); long stol(const string &, size_t * = nullptr, int = 10);
unsigned long stoul(const string &, size_t * = nullptr, int = 10); float stof(const string &, size_t * = nullptr);
long long stoll(const string &, size_t * = nullptr, int = 10); double stod(const string &, size_t * = nullptr);
unsigned long long stoull(const string &, size_t * = nullptr, int = 10);
template <class _Tp> string to_string(_Tp);
}
}
#pragma pop_macro("BOTH")
#pragma pop_macro("ORDERED")
#pragma pop_macro("SEQUENCE")
