/* Thrust's containers, as far as launches depend on them: see `warpbound_containers.h`. */
#pragma once
#pragma push_macro("SEQUENCE_OF_DEVICE")
extern "C++" {
namespace thrust {
template <class _Tp> class device_ptr {
  void *__w;
public: __w_LIBRARY
  typedef __remove_cv(_Tp) value_type; typedef device_ptr pointer; typedef ptrdiff_t difference_type;
  device_ptr(); explicit device_ptr(_Tp *); _Tp *get() const; device_ptr operator+(ptrdiff_t) const;
  _Tp &operator*() const, &operator[](size_t) const;
};
/* Its elements are on the device, and so are the places that its iterators lead to. */
#define SEQUENCE_OF_DEVICE(SELF) \
  typedef _Tp value_type; typedef device_ptr<_Tp> pointer, iterator; typedef size_t size_type; \
  SELF(); SELF(const SELF &); explicit SELF(size_t); SELF(size_t, const _Tp &); template <class _It> SELF(_It, _It); \
  SELF(std::initializer_list<_Tp>); template <class _Up> SELF(const _Up &); ~SELF(); SELF &operator=(const SELF &); \
  template <class _Up> SELF &operator=(const _Up &); _Tp &operator[](size_t) const, &front() const, &back() const; \
  device_ptr<_Tp> data() const, begin() const, end() const; size_t size() const, capacity() const; bool empty() const; \
  void resize(size_t); void resize(size_t, const _Tp &); void reserve(size_t); void clear(); void shrink_to_fit(); \
  void push_back(const _Tp &); template <class... _Ap> void assign(_Ap &&...); void swap(SELF &);
template <class _Tp, class... _Rest> class device_vector { void *__w[4]; public: SEQUENCE_OF_DEVICE(device_vector) };
template <class _Tp, class... _Rest> class universal_vector { void *__w[4]; public: SEQUENCE_OF_DEVICE(universal_vector) };
template <class _Tp, class... _Rest> class host_vector : public std::vector<_Tp> {
public:
  using std::vector<_Tp>::vector;
  template <class _Up> host_vector(const _Up &); template <class _Up> host_vector &operator=(const _Up &);
};
template <class _Tp> _Tp *raw_pointer_cast(const device_ptr<_Tp> &);
template <class _Tp> _Tp *raw_pointer_cast(_Tp *);
template <class _Tp> device_ptr<_Tp> device_pointer_cast(_Tp *);
}
}
#pragma pop_macro("SEQUENCE_OF_DEVICE")
