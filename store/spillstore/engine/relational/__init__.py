"""The tables and statements of engines that speak SQL, written once. Nothing of it is imported while a store works."""
